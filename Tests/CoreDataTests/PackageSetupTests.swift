import Foundation
import PersistCoreDataPass
import PersistTestSupport
import Testing

@Suite("Setting a package up for Core Data's sources")
struct PackageSetupTests {
  /// Writes files and returns the setup of the package that a dumped manifest describes.
  private func withPackage(
    _ files: [String: String], _ targets: [[String: Any]], _ body: (PackageSetup, URL) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      for (path, text) in files {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
      }
      let manifest = try JSONSerialization.data(withJSONObject: ["targets": targets])
      try body(PackageSetup(folder, manifest: manifest), folder)
    }
  }

  private static let source = "import CoreData\n"

  @Test("Targets are found where the manifest and SwiftPM say")
  func folders() throws {
    let files = [
      "Code/Store.swift": Self.source, "Source/Kit/Kit.swift": Self.source,
      "Tests/KitTests/KitTests.swift": Self.source, "Sources/Other/Other.swift": "let a = 1\n",
    ]
    let targets: [[String: Any]] = [
      ["name": "Store", "type": "regular", "path": "./Code/"], ["name": "Kit", "type": "regular"],
      ["name": "KitTests", "type": "test"], ["name": "Other", "type": "regular"], ["name": "P", "type": "plugin"],
    ]
    try withPackage(files, targets) { setup, _ in
      #expect(setup.targets.map(\.name) == ["Store", "Kit", "KitTests"])
      #expect(setup.targets.map(\.path) == ["Code", "Source/Kit", "Tests/KitTests"])
    }
  }

  @Test("A target whose dependency uses Core Data is included only if it has something to change")
  func dependents() throws {
    let files = [
      "Sources/Store/Store.swift": Self.source, "Sources/Plain/Plain.swift": "import Store\n",
      "Sources/App/App.swift": "import Store\nlet key = #keyPath(Item.name)\n",
      "Sources/Far/Far.swift": "import App\nlet key = #keyPath(Item.name)\n",
    ]
    let targets: [[String: Any]] = [
      ["name": "Store", "type": "regular"],
      ["name": "Far", "type": "executable", "dependencies": [["target": ["App", NSNull()]]]],
      ["name": "App", "type": "executable", "dependencies": [["byName": ["Store", NSNull()]]]],
      ["name": "Plain", "type": "regular", "dependencies": [["byName": ["Store", NSNull()]]]],
    ]
    try withPackage(files, targets) { setup, _ in
      #expect(Set(setup.targets.map(\.name)) == ["Store", "App", "Far"])
    }
  }

  @Test("Models are copied, wherever they are, and other resources keep their rules")
  func resources() throws {
    let files = [
      "Sources/App/App.swift": Self.source, "Sources/App/Model/Item.swift": Self.source,
      "Sources/App/Model/Shop.xcdatamodeld/Shop.xcdatamodel/contents": "<model/>",
      "Sources/App/Assets/a.json": "{}", "Sources/App/Assets/More.xcdatamodeld/More.xcdatamodel/contents": "<model/>",
      "Sources/App/Data/b.json": "{}", "Sources/App/README.txt": "",
    ]
    let targets: [[String: Any]] = [
      [
        "name": "App", "type": "regular",
        "resources": [
          ["path": "Assets", "rule": ["process": [:] as [String: Any]]],
          ["path": "Data", "rule": ["copy": [:] as [String: Any]]],
        ],
      ]
    ]
    try withPackage(files, targets) { setup, _ in
      #expect(
        setup.targets.first?.resources == [
          ".copy(\"Assets/More.xcdatamodeld\")", ".copy(\"Model/Shop.xcdatamodeld\")", ".process(\"Assets/a.json\")",
          ".copy(\"Data\")",
        ])
    }
    let plain: [[String: Any]] = [["name": "App", "type": "regular", "resources": [["path": "a.json"]]]]
    try withPackage(["Sources/App/App.swift": Self.source, "Sources/App/a.json": "{}"], plain) { setup, _ in
      #expect(setup.targets.first?.resources == nil)
      #expect(setup.manifestPart(dependency: "d").contains("case \"App\": break\n"))
    }
  }

  @Test("Excluded sources aren't looked at, and the plugin learns of them")
  func exclusions() throws {
    let files = [
      "Sources/App/Legacy/Old.swift": Self.source, "Sources/App/App.swift": "let a = 1\n",
      "Sources/Kit/Code/Kit.swift": Self.source, "Sources/Kit/Notes/Notes.swift": "broken",
    ]
    let targets: [[String: Any]] = [
      ["name": "App", "type": "regular", "exclude": ["Legacy/"]],
      ["name": "Kit", "type": "regular", "exclude": ["Code/Generated"], "sources": ["Code"]],
    ]
    try withPackage(files.merging(["Package.swift": "let package = Package()\n"]) { $1 }, targets) { setup, folder in
      #expect(setup.targets.map(\.name) == ["Kit"])
      try setup.apply(dependency: "../persist")
      let placeholder = try String(
        contentsOf: folder.appendingPathComponent("Sources/Kit/CoreDataPlatform.swift"), encoding: .utf8)
      #expect(placeholder.hasSuffix("// except: Code/Generated\n// only: Code\n"))
    }
  }

  @Test("Every manifest gets one paragraph, and an earlier one is replaced")
  func manifests() throws {
    let files = [
      "Sources/App/App.swift": Self.source, "Package.swift": "let package = Package()\n\n",
      "Package@swift-6.0.swift": "let package = Package()",
    ]
    try withPackage(files, [["name": "App", "type": "regular"]]) { setup, folder in
      try setup.apply(dependency: "../one")
      try setup.apply(dependency: "https://example.com/persist.git")
      #expect(PackageSetup.manifests(in: folder).count == 2)
      for manifest in PackageSetup.manifests(in: folder) {
        let text = try String(contentsOf: manifest, encoding: .utf8)
        #expect(text.hasPrefix("let package = Package()\n\n// Core Data"))
        #expect(text.components(separatedBy: "#if").count == 2 && !text.contains("../one"))
        #expect(text.contains("target.sources = [\"CoreDataPlatform.swift\"]"))
        #expect(PackageSetup.withoutPart(text) == "let package = Package()\n")
      }
    }
  }

  @Test(
    "A manifest for tools without plugins is raised, and gets its former version back",
    arguments: ["// swift-tools-version:5.3", "//swift-tools-version: 5.5.1", "// swift-tools-version:4.0"])
  func tools(line: String) throws {
    let manifest = "\(line)\nimport PackageDescription\nlet package = Package()\n"
    let files = ["Sources/App/App.swift": Self.source, "Package.swift": manifest]
    try withPackage(files, [["name": "App", "type": "regular"]]) { setup, folder in
      #expect(setup.manifestsToRaise == ["Package.swift"])
      for _ in 0..<2 {
        try setup.apply(dependency: "../persist")
        let text = try String(contentsOf: folder.appendingPathComponent("Package.swift"), encoding: .utf8)
        #expect(text.hasPrefix("// swift-tools-version:5.6\nimport PackageDescription\n"))
        #expect(text.contains("'\(line)'") && text.components(separatedBy: "#if").count == 2)
        #expect(PackageSetup.withoutPart(text) == manifest)
      }
    }
  }

  @Test("Newer tools and manifests without a version stay", arguments: ["// swift-tools-version:5.6", "// none", "import A"])
  func newTools(line: String) throws {
    let files = ["Sources/App/App.swift": Self.source, "Package.swift": "\(line)\nlet package = Package()\n"]
    try withPackage(files, [["name": "App", "type": "regular"]]) { setup, folder in
      #expect(setup.manifestsToRaise.isEmpty)
      try setup.apply(dependency: "../persist")
      let text = try String(contentsOf: folder.appendingPathComponent("Package.swift"), encoding: .utf8)
      #expect(text.hasPrefix("\(line)\nlet package") && !text.contains("Plugins need"))
    }
  }

  @Test(
    "A dependency is a path, a URL or an expression",
    arguments: [
      ("../persist", ".package(name: \"Persist\", path: \"../persist\")"),
      ("https://a.b/c.git", ".package(url: \"https://a.b/c.git\", branch: \"main\")"),
      (".package(url: \"u\", from: \"1.0.0\")", ".package(url: \"u\", from: \"1.0.0\")"),
    ])
  func dependencies(text: String, expected: String) { #expect(PackageSetup.dependency(text) == expected) }
}
