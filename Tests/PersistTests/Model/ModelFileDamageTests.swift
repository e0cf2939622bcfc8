import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Damaged model files")
struct ModelFileDamageTests {
  private static func sources() throws -> [Data] {
    try (["Shop", "Shop 2", "Shop 3"].map {
      PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld/\($0).xcdatamodel/contents")
    } + SharedData.modelContents.prefix(12)).map { try Data(contentsOf: $0) }
  }

  /// Cuts, duplicates, exchanges and overwrites pieces of a file, mostly with elements of its format.
  private static func damaged(_ data: Data, pieces: [String], _ random: inout SeededRandom) -> Data {
    var bytes = [UInt8](data)
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let start = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, start + Int.random(in: 1...60, using: &random))
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes.removeSubrange(start..<end)
      case 1: bytes.insert(contentsOf: bytes[start..<end], at: start)
      case 2: bytes[start] = UInt8.random(in: 0...255, using: &random)
      case 3: bytes.removeSubrange(start...)
      default: bytes.replaceSubrange(start..<start, with: Array(pieces.randomElement(using: &random)?.utf8 ?? "".utf8))
      }
    }
    return Data(bytes)
  }

  /// A damaged file is a model or an error that names its place, and never anything else.
  private func expectModelOrError(_ data: Data, _ read: (Data) throws -> ModelDescription) {
    do {
      let description = try read(data)
      let model = try ManagedObjectModel(description)
      #expect(try ModelDescription(json: Data(description.json.utf8)) == description)
      #expect(ModelDifference.between(store: model, model: model).isEmpty)
    } catch let error as PersistenceError {
      #expect(!error.message.isEmpty)
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test("A damaged .xcdatamodel is an error or a model, never a crash", .law("model-files", short: 100, long: 20_000))
  func xml() throws {
    let sources = try Self.sources()
    let file = URL(fileURLWithPath: "/m/contents")
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let data = Self.damaged(
        sources[Int(seed % UInt64(sources.count))],
        pieces: [
          "<", ">", "/>", "\"", "&", "&amp;", "&#x110000;", "<!--", "-->", "<![CDATA[", "]]>", "<entity name=\"E\">",
          "</entity>", "<!DOCTYPE a [", " optional=\"maybe\"", " parentEntity=\"Item\"",
          " defaultValueString=\"99e999\"", " maxCount=\"99999999999999999999\"", " attributeType=\"Composite\"",
          "\u{0}", "é", "<attribute name=\"a\"/>",
        ], &random)
      expectModelOrError(data) {
        try XMLModelReader.model(from: MarkupReader.root(in: $0, from: file), file: file).description
      }
    }
  }

  @Test("A damaged JSON model is an error or a model, never a crash", .law("model-json", short: 100, long: 20_000))
  func json() throws {
    let sources = [Data(ModelJSONTests.full.json.utf8)]
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let data = Self.damaged(
        sources[Int(seed % UInt64(sources.count))],
        pieces: [
          "{", "}", "[", "]", ",", ":", "\"", "\\u", "\\uD800", "1e999", "-", "null", "true", "\"x\": 1,", "\u{0}",
        ], &random)
      expectModelOrError(data) { try ModelDescription(json: $0) }
    }
  }
}
