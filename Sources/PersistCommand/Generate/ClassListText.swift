import Persist

/// The source file that lists the generated classes of a model, with what they assume about it.
struct ClassListText {
  let version: String
  let model: String
  let classes: ModelClasses
  let access: String

  static func name(of model: String) -> String {
    let words = model.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map { SwiftName.capitalized(String($0)) }
    return SwiftName.identifier(words.joined()) + "EntityClasses"
  }

  func lines(_ types: inout TypeNames) -> [String] {
    let name = Self.name(of: model)
    let list = types("GeneratedClasses")
    let members = classes.listed
    return [
      "/// The generated classes of the model `\(model)`.",
      "///",
      "/// ```swift",
      "/// \(name).all.register()                       // before the first context is made",
      "/// try \(name).all.check(against: model)        // whether they were generated from this version",
      "/// ```",
      "nonisolated \(access)enum \(name) {",
      "  \(access)static let all = \(list)(",
      "    version: \(SwiftName.literal(version)),",
      "    [",
    ] + members.map { "      \(function(of: $0))()," } + ["    ])"]
      + members.flatMap { [""] + member($0, of: list, types: &types) } + ["}"]
  }

  private func function(of type: ModelClasses.Class) -> String { "of\(SwiftName.capitalized(type.name))" }

  private func member(_ type: ModelClasses.Class, of list: String, types: inout TypeNames) -> [String] {
    let entity = type.entity
    let own = entity.properties.filter { $0.declaringEntity == entity.name }
    var head = "      \(types(type)).self, entity: \(SwiftName.literal(entity.name)), "
    if let parent = entity.superentity {
      head += "parent: \(SwiftName.literal(parent.name)), firstSlot: \(entity.properties.count - own.count), "
    }
    var lines = ["  private static func \(function(of: type))() -> \(list).Member {", "    \(list).Member("]
    if own.isEmpty {
      lines.append(head + "properties: [])")
    } else {
      lines += [String(head.dropLast()), "      properties: ["]
      for property in own { lines.append("        (\(SwiftName.literal(property.name)), \(kind(of: property))),") }
      lines.append("      ])")
    }
    return lines + ["  }"]
  }

  private func kind(of property: Property) -> String {
    switch property.kind {
    case .attribute(let attribute) where attribute.type == .composite:
      ".composite(\(SwiftName.literal(attribute.compositeName ?? ""))\(elements(of: property)))"
    case .attribute(let attribute): ".attribute(.\(attribute.type.rawValue))"
    case .relationship(let relationship):
      ".\(relationship.isToMany ? (relationship.isOrdered ? "ordered" : "toMany") : "toOne")"
        + "(\(SwiftName.literal(relationship.destination)))"
    case .fetchedProperty: ".fetched"
    }
  }

  private func elements(of property: Property) -> String {
    let elements = property.elements.map { element in
      "\(SwiftName.literal(element.path.dropFirst().joined(separator: "."))): .\(element.attribute.type.rawValue)"
    }
    return elements.isEmpty ? "" : ", elements: [\(elements.sorted().joined(separator: ", "))]"
  }
}
