import Persist

/// The source code of the structure for a composite type of a model.
struct CompositeText {
  let composite: CompositeDescription
  let access: String
  /// The names of types that the structure uses; a property with such a name would shadow the type.
  let typeNames: Set<String>
  let report: (String) -> Void

  var name: String { SwiftName.identifier(composite.name) }

  func lines(_ types: inout TypeNames) -> [String] {
    var properties: [String] = []
    var reads: [String] = []
    var writes: [String] = []
    let stored = types("StoredValue")
    for element in composite.elements.sorted(by: { $0.name < $1.name }) {
      let name = SwiftName.written(swiftName(of: element))
      let part = "parts[\(SwiftName.literal(element.name))]"
      if element.type == .composite {
        let type = SwiftName.written(SwiftName.identifier(element.compositeName ?? element.name))
        properties.append("  \(access)var \(name): \(type)?")
        reads.append("    self.\(name) = \(part).flatMap { \(type)(stored: $0) }")
        writes.append("    if let value = self.\(name) { \(part) = value.stored }")
      } else if let type = ValueType(element.type) {
        properties.append("  \(access)var \(name): \(types(type.name))?")
        reads.append("    self.\(name) = \(type.match(part + " ?? .null", &types))")
        writes.append("    if let value = self.\(name) { \(part) = \(type.stored("value", &types)) }")
      } else {
        report("'\(element.name)' of type \(element.type.rawValue) has no type in Swift; it is a StoredValue.")
        properties.append("  \(access)var \(name): \(stored)?")
        reads.append("    self.\(name) = \(part)")
        writes.append("    if let value = self.\(name) { \(part) = value }")
      }
    }
    let string = types("String")
    return ["/// The composite type `\(composite.name)`."]
      + ["nonisolated \(access)struct \(SwiftName.written(name)): \(types("Sendable")), \(types("Hashable")) {"]
      + properties
      + ["", "  \(access)init() {}", "", "  /// Creates a value from a stored composite; nil for other values."]
      + [
        "  \(access)init?(stored: \(stored)) {",
        "    guard case .composite(\(reads.isEmpty ? "_" : "let parts")) = stored else { return nil }",
      ] + reads + ["  }", "", "  \(access)var stored: \(stored) {"]
      + (writes.isEmpty
        ? ["    .composite([:])"]
        : ["    var parts: [\(string): \(stored)] = [:]"] + writes + ["    return .composite(parts)"])
      + ["  }", "}"]
  }

  /// Names that the structure's own members need.
  private static let ownNames: Set<String> = ["hashValue", "self", "stored"]

  private func swiftName(of element: AttributeDescription) -> String {
    var name = SwiftName.identifier(element.name)
    if Self.ownNames.contains(name) || typeNames.contains(name) { name += "_" }
    let others = Set(composite.elements.map(\.name)).subtracting([element.name])
    while others.contains(name) { name += "_" }
    if name != element.name {
      report("A property of a structure can't be called '\(element.name)'; it is generated as '\(name)'.")
    }
    return name
  }
}
