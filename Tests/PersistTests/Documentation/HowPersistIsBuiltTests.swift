import Foundation
import PersistTestSupport
import Testing

@Suite("The article on how Persist is built")
struct HowPersistIsBuiltTests {
  private static func text(_ path: String) throws -> String {
    try String(contentsOf: PackageFolder.url.appendingPathComponent(path), encoding: .utf8)
  }

  @Test("Each source file that the article names exists")
  func files() throws {
    let paths = try ["Sources", "Tests"].flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: PackageFolder.url.appendingPathComponent(folder).path)
    }
    let present = Set(paths.compactMap { $0.split(separator: "/").last })
    let named = try Self.text("Sources/Persist/Persist.docc/HowPersistIsBuilt.md")
      .matches(of: /`([A-Za-z+]+\.swift)`/).map(\.1)
    #expect(named.count > 40)
    for file in Set(named).subtracting(present).sorted() { Issue.record("There is no file \(file).") }
  }

  @Test("The picture of the layers shows the folders of the layer test in their order")
  func picture() throws {
    let source = try Self.text("Tests/PersistTests/Sources/LayerTests.swift")
    let list = try #require(source.firstMatch(of: /LayerRules\(folders: \[(.*?)\]\)/.dotMatchesNewlines())?.1)
    var layers: [[Substring]] = []
    for folder in list.matches(of: /"([^"]+)"/).map(\.1) {
      if let last = layers.last?.last, last.prefix(while: { $0 != "/" }) == folder.prefix(while: { $0 != "/" }) {
        layers[layers.count - 1].append(folder)
      } else {
        layers.append([folder])
      }
    }
    let drawn = try Self.text("Sources/Persist/Persist.docc/Resources/layers.svg")
      .matches(of: /data-folder="([^"]+)"/).map(\.1)
    #expect(drawn == layers.reversed().flatMap { $0 }, "Run Scripts/draw-layers, and commit the picture.")
  }
}
