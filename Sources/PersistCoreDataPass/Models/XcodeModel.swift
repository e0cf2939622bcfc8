package import Foundation

/// The current version of a model file, as far as classes are generated from it.
package struct XcodeModel {
  struct Entity {
    let name: String
    /// The class in the model; nil if the entity has none of its own.
    let className: String?
    let parent: String?
    let codegen: Codegen
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    var fetchedProperties: [(name: String, entity: String)] = []
  }

  /// The values of Xcode's setting "Codegen".
  enum Codegen: Equatable {
    case manual, category, classDefinition
  }

  struct Attribute {
    let name: String
    let type: String
    let usesScalarType: Bool
    /// The class of a transformable attribute's values.
    let className: String?
  }

  struct Relationship {
    let name: String
    let destination: String
    let isToMany: Bool
    let isOrdered: Bool
  }

  package struct Unreadable: Error, CustomStringConvertible {
    let file: String
    let line: Int
    let reason: String

    package var description: String { "\(file):\(line): error: \(reason)" }
  }

  private(set) var entities: [Entity] = []

  /// Reads an `.xcdatamodeld` or `.xcdatamodel` folder.
  ///
  /// - Throws: ``Unreadable`` with the file that can't be read.
  package init(contentsOf url: URL) throws {
    let file = try Self.version(url).appendingPathComponent("contents")
    guard let text = try? String(contentsOf: file, encoding: .utf8) else {
      throw Unreadable(file: file.path, line: 1, reason: "The model can't be read.")
    }
    do {
      try self.init(text)
    } catch let error as MarkupScanner.Malformed {
      throw Unreadable(file: file.path, line: error.line, reason: "The model's XML is malformed.")
    }
  }

  /// Reads the XML of a version.
  init(_ text: String) throws {
    var open: [String] = []
    for event in try MarkupScanner.events(of: text) {
      switch event {
      case .start(let element, let values):
        read(element, values, in: open.last)
        open.append(element)
      case .end: _ = open.popLast()
      }
    }
  }

  private mutating func read(_ element: String, _ values: [String: String], in parent: String?) {
    let name = values["name"] ?? ""
    switch (parent, element) {
    case ("model", "entity"): entities.append(Self.entity(values))
    case ("entity", "attribute"):
      change {
        $0.attributes.append(
          Attribute(
            name: name, type: values["attributeType"] ?? "Undefined",
            usesScalarType: values["usesScalarValueType"] == "YES", className: values["customClassName"]))
      }
    case ("entity", "relationship"):
      change {
        $0.relationships.append(
          Relationship(
            name: name, destination: values["destinationEntity"] ?? "",
            isToMany: values["toMany"] == "YES" || values["maxCount"] != "1", isOrdered: values["ordered"] == "YES"))
      }
    case ("entity", "fetchedProperty"): change { $0.fetchedProperties.append((name, "")) }
    case ("fetchedProperty", "fetchRequest"):
      change { $0.fetchedProperties[$0.fetchedProperties.count - 1].entity = values["entity"] ?? "" }
    case ("entity", _) where element.lowercased().contains("composite"):
      change {
        $0.attributes.append(Attribute(name: name, type: "Composite", usesScalarType: false, className: nil))
      }
    default: break
    }
  }

  private mutating func change(_ body: (inout Entity) -> Void) {
    if !entities.isEmpty { body(&entities[entities.count - 1]) }
  }

  private static func entity(_ values: [String: String]) -> Entity {
    let codegen: Codegen =
      switch values["codeGenerationType"] {
      case "class": .classDefinition
      case "category": .category
      default: .manual
      }
    // The name may begin with a module's, or with a dot for the module that is compiled.
    let name = values["representedClassName"]?.split(separator: ".").last.map(String.init)
    return Entity(
      name: values["name"] ?? "", className: name == "NSManagedObject" ? nil : name, parent: values["parentEntity"],
      codegen: codegen)
  }

  /// The folder of the current version.
  private static func version(_ url: URL) throws -> URL {
    guard url.pathExtension == "xcdatamodeld" else { return url }
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? [])
      .filter { $0.hasSuffix(".xcdatamodel") }.sorted()
    let current = (try? Data(contentsOf: url.appendingPathComponent(".xccurrentversion")))
      .flatMap { try? PropertyListSerialization.propertyList(from: $0, format: nil) as? [String: Any] }
      .flatMap { $0["_XCCurrentVersionName"] as? String }
    if let current {
      guard versions.contains(current) else {
        throw Unreadable(file: url.path, line: 1, reason: "The model's current version '\(current)' is missing.")
      }
      return url.appendingPathComponent(current)
    }
    guard let only = versions.first else {
      throw Unreadable(file: url.path, line: 1, reason: "The model contains no version.")
    }
    return url.appendingPathComponent(only)
  }

  /// Whether any of its classes is generated.
  package var hasGeneratedClasses: Bool { entities.contains { $0.codegen != .manual && $0.className != nil } }
}

extension URL {
  /// Whether it is a folder with a model as Xcode edits it.
  package var isXcodeModel: Bool { ["xcdatamodeld", "xcdatamodel"].contains(pathExtension) }
}
