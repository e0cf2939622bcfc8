/// A class that a source declares or extends.
struct DeclaredType: Hashable {
  let name: String
  /// The first type that it inherits from; nil for an extension.
  let superclass: String?
  let isClass: Bool
  /// Whether the class has the attribute `@objcMembers`.
  let hasObjectiveCMembers: Bool
  /// The end of the inheritance clause; nil without one, or if it names Sendable.
  let inheritanceEnd: Int?
}

/// The members of a source that Objective-C's runtime would find by their names: methods of migration policies and
/// managers, which mapping models call, validation methods, and properties of managed objects.
///
/// A class gets a declaration that finds its own methods.
struct ManagedDispatches {
  private var classes: [(type: DeclaredType, file: String, start: Int)] = []
  private var methods: [String: [(selector: String, method: ObjectiveCMethod)]] = [:]
  private var validations: [String: [(token: SwiftToken, method: ObjectiveCMethod)]] = [:]
  private var overrides: [String: [Override]] = [:]
  private var properties: [String: [ObjectiveCProperty]] = [:]
  /// The names of members that classes declare themselves.
  private var own: [String: Set<String>] = [:]

  /// An override in an extension, with the edits that give it another name.
  private struct Override {
    let token: SwiftToken
    let override: ExtensionOverride
    let edits: [SourceEditor.Edit]
  }

  mutating func add(_ type: DeclaredType, file: String, start: Int) { classes.append((type, file, start)) }

  mutating func add(_ method: ObjectiveCMethod, selector: String, of type: DeclaredType) {
    methods[type.name, default: []].append((selector, method))
  }

  mutating func add(validation method: ObjectiveCMethod, at token: SwiftToken, of type: DeclaredType) {
    validations[type.name, default: []].append((token, method))
  }

  mutating func add(
    _ override: ExtensionOverride, at token: SwiftToken, of type: DeclaredType, edits: [SourceEditor.Edit]
  ) {
    overrides[type.name, default: []].append(Override(token: token, override: override, edits: edits))
  }

  mutating func add(_ property: ObjectiveCProperty, of type: DeclaredType) {
    properties[type.name, default: []].append(property)
  }

  mutating func add(_ member: String, of type: DeclaredType) { own[type.name, default: []].insert(member) }

  /// Adds what another file of the module declares.
  mutating func merge(_ other: ManagedDispatches) {
    classes += other.classes
    methods.merge(other.methods) { $0 + $1 }
    validations.merge(other.validations) { $0 + $1 }
    overrides.merge(other.overrides) { $0 + $1 }
    properties.merge(other.properties) { $0 + $1 }
    own.merge(other.own) { $0.union($1) }
  }

  /// The declarations to insert behind the opening braces of classes.
  var declarations: [(file: String, start: Int, text: String)] {
    classes.flatMap { type, file, start -> [(file: String, start: Int, text: String)] in
      var texts: [String] = []
      let own = own[type.name] ?? []
      if let methods = methods[type.name], !own.contains("callManaged"), isCalledByMappings(type) {
        texts.append(Self.calls(methods))
      }
      if let methods = validations[type.name], !own.contains("managedValidators") {
        texts.append(Self.rules(methods.map(\.method), type.name))
      }
      if let properties = properties[type.name], !own.contains("managedProperties"), isManagedObject(type) {
        texts.append(Self.keys(properties, type.name))
      }
      for override in overrides[type.name] ?? [] { texts.append(override.override.declaration) }
      var declarations = texts.isEmpty ? [] : [(file, start, texts.map { "\($0);" }.joined())]
      // CoreData's own classes state why they are unchecked; a subclass only repeats the conformance.
      if let end = type.inheritanceEnd, inherits(type, from: Self.sendableClasses.contains) {
        declarations.append((file, end, ", @unchecked Sendable"))
      }
      return declarations
    }
  }

  /// The classes of the module CoreData whose promise of safety a subclass has to repeat.
  private static let sendableClasses: Set<String> = [
    "ValueTransformer", "NSSecureUnarchiveFromDataTransformer", "NSExpression", "NSMigrationStage",
    "NSLightweightMigrationStage", "NSCustomMigrationStage", "NSStagedMigrationManager", "NSManagedObjectModel",
    "NSPropertyDescription", "NSFetchIndexElementDescription", "NSFetchIndexDescription", "NSEntityDescription",
    "NSRelationshipDescription", "NSFetchedPropertyDescription", "NSExpressionDescription", "NSAttributeDescription",
    "NSDerivedAttributeDescription", "UndoManager", "NSMergePolicy", "NSManagedObjectContext",
    "NSPersistentStoreRequest", "NSPersistentStoreResult", "NSFetchRequest", "NSPersistentHistoryChangeRequest",
    "NSFetchedResultsController", "NSBatchInsertRequest", "NSBatchUpdateRequest", "NSBatchDeleteRequest",
    "NSAsynchronousFetchRequest", "NSPersistentStoreDescription", "NSPersistentContainer",
    "NSPersistentStoreCoordinator", "NSPersistentStore",
  ]

  /// The validation methods in extensions of classes that the module doesn't declare.
  func validations(withoutClassIn module: ManagedDispatches) -> [SwiftToken] {
    validations.filter { !module.declares($0.key) }.values.flatMap { $0.map(\.token) }
  }

  /// The edits of overrides in extensions of classes that the module declares, and the places of the others.
  func overrides(in module: ManagedDispatches) -> (edits: [SourceEditor.Edit], uncovered: [SwiftToken]) {
    var result: (edits: [SourceEditor.Edit], uncovered: [SwiftToken]) = ([], [])
    for (name, overrides) in overrides {
      if module.declares(name) { result.edits += overrides.flatMap(\.edits) } else {
        result.uncovered += overrides.map(\.token)
      }
    }
    return result
  }

  private func declares(_ name: String) -> Bool { classes.contains { $0.type.name == name } }

  private func isManagedObject(_ type: DeclaredType) -> Bool { inherits(type) { $0 == "NSManagedObject" } }

  private func isCalledByMappings(_ type: DeclaredType) -> Bool {
    inherits(type) { $0.hasSuffix("MigrationPolicy") || $0 == "NSMigrationManager" }
  }

  /// Whether an ancestor has a certain name, as far as the module declares them.
  private func inherits(_ type: DeclaredType, from isWanted: (String) -> Bool) -> Bool {
    var superclass = type.superclass
    var seen: Set<String> = [type.name]
    while let name = superclass, seen.insert(name).inserted {
      if isWanted(name) { return true }
      superclass = classes.first { $0.type.name == name }?.type.superclass
    }
    return false
  }

  private static func calls(_ methods: [(selector: String, method: ObjectiveCMethod)]) -> String {
    let cases = methods.map { selector, method in
      "case \"\(selector)\": return ManagedResult(\(method.call))"
    }
    return " public override func callManaged(_ selector: String, _ arguments: ManagedArguments) throws"
      + " -> ManagedResult? { switch selector { \(cases.joined(separator: "; ")); default:"
      + " return try super.callManaged(selector, arguments) } }"
  }

  private static func keys(_ properties: [ObjectiveCProperty], _ type: String) -> String {
    let keys = properties.map { $0.declaration(in: type) }
    return " public override class var managedProperties: [ManagedProperty]"
      + " { super.managedProperties + [\(keys.joined(separator: ", "))] }"
  }

  private static func rules(_ methods: [ObjectiveCMethod], _ type: String) -> String {
    let rules = methods.map { method in
      "ManagedValidator(\"\(method.validatedKey)\") { (object: \(type), value) in try object.\(method.name)(value) }"
    }
    return " public override class var managedValidators: [ManagedValidator]"
      + " { super.managedValidators + [\(rules.joined(separator: ", "))] }"
  }
}
