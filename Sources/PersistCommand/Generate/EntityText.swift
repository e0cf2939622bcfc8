import Persist

/// The source file of an entity: its class, unless the user writes it, and an extension with its properties.
struct EntityText {
  let type: ModelClasses.Class
  let classes: ModelClasses
  let model: ManagedObjectModel
  /// The name of the type that lists the model's classes.
  let listName: String
  let access: String
  /// The names of types that property bodies use; a property with such a name would shadow the type.
  let typeNames: Set<String>
  let report: (_ message: String, _ property: String) -> Void

  /// The lines of the file.
  ///
  /// The properties aren't inlinable: a slot number compiled into a client would be wrong as soon as the module with
  /// the class is replaced by one for another model version.
  func lines(_ types: inout TypeNames) -> [String] {
    let name = SwiftName.written(type.name)
    let declaration = classes.listDeclaration(of: type)
    var lines: [String] = []
    if type.codeGeneration != .properties {
      let parent = classes.parent(of: type).map { types($0) } ?? types("ManagedObject")
      let isOpen = !access.isEmpty && classes.isInheritedElsewhere(type)
      let head = "nonisolated \(isOpen ? "open " : access)class \(name): \(parent)"
      lines += PropertyComment.lines(of: type.entity)
      switch declaration {
      case .inherited, .conformance: lines += ["\(head) {}", ""]
      case .overridable: lines += ["\(head) {", "  \(isOpen ? "open " : access)class \(list(&types))", "}", ""]
      case .overriding: lines += ["\(head) {", "  \(access)override class \(list(&types))", "}", ""]
      }
    }
    let bodies = ownProperties.compactMap { property in body(of: property, &types) }
    if !bodies.isEmpty {
      lines.append("nonisolated extension \(name) {")
      for (index, body) in bodies.enumerated() { lines += (index == 0 ? [] : [""]) + body }
      lines += ["}", ""]
    }
    if declaration == .conformance || declaration == .overridable {
      let head = "nonisolated extension \(name): \(types("GeneratedObject"))"
      lines +=
        declaration == .overridable
        ? ["\(head) {}", ""] : ["\(head) {", "  \(access)static \(list(&types))", "}", ""]
      if isIdentifiable { lines += ["nonisolated extension \(name): \(types("Identifiable")) {}", ""] }
    }
    return lines
  }

  /// The declaration of the property with the list of classes, without modifiers.
  private func list(_ types: inout TypeNames) -> String {
    "var generatedClasses: \(types("GeneratedClasses")) { \(listName).all }"
  }

  private var ownProperties: [Property] {
    type.entity.properties.filter { $0.declaringEntity == type.entity.name }
  }

  /// Whether the class conforms to `Identifiable`: if the entity has a property `id`, its type has to be suitable.
  private var isIdentifiable: Bool {
    guard let id = type.entity.property(named: "id") else { return true }
    guard let attribute = id.attribute else { return id.isToOne }
    return attribute.userInfo[AttributeText.swiftTypeKey] == nil
      && ![.transformable, .objectID, .undefined].contains(attribute.type)
  }

  private func body(of property: Property, _ types: inout TypeNames) -> [String]? {
    let name = swiftName(of: property)
    let comment = PropertyComment.lines(of: property, in: model)
    switch property.kind {
    case .attribute(let attribute):
      let text = AttributeText(attribute: attribute, slot: property.slot) { report($0, attribute.name) }
      let accessor = text.accessor(&types)
      let variable = "  \(access)var \(SwiftName.written(name)): \(accessor.type)"
      guard let setter = accessor.setter else { return comment + ["\(variable) { \(accessor.getter) }"] }
      return comment + ["\(variable) {", "    get { \(accessor.getter) }", "    set { \(setter) }", "  }"]
    case .relationship(let relationship):
      guard let destination = classes.named(relationship.destination) else { return nil }
      let text = RelationshipText(relationship: relationship, slot: property.slot, name: name, access: access)
      return comment + text.lines(to: types(destination), &types)
    case .fetchedProperty(let fetched):
      guard let destination = classes.named(fetched.request.entity) else { return nil }
      let element = types(destination)
      return comment + [
        "  \(access)var \(SwiftName.written(name)): [\(element)] { fetched(at: \(property.slot), of: \(element).self) }"
      ]
    }
  }

  private func swiftName(of property: Property) -> String {
    var name = SwiftName.identifier(property.name)
    if SwiftName.ofManagedObject.contains(name) || typeNames.contains(name) { name += "_" }
    let others = Set(type.entity.properties.filter { $0.slot != property.slot }.map(\.name))
    while others.contains(name) { name += "_" }
    if name != property.name {
      report("A property of a class can't be called '\(property.name)'; it is generated as '\(name)'.", property.name)
    }
    return name
  }
}
