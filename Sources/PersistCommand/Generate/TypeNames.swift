/// The types that a generated file names, and the modules that it imports for them.
struct TypeNames {
  /// Names of the model's own types, which shadow those of imported modules.
  private let taken: Set<String>
  private(set) var publicImports: Set<String> = []
  private(set) var internalImports: Set<String> = ["Persist"]

  init(taken: Set<String>) { self.taken = taken }

  private static let foundation: Set<String> = ["Data", "Date", "Decimal", "IndexSet", "URL", "UUID"]
  private static let persist: Set<String> = [
    "FetchRequest", "GeneratedClasses", "GeneratedObject", "ManagedObject", "RelationshipSet", "StoredValue",
  ]

  /// The types outside of the model that generated code uses.
  static let known = foundation.union(persist).union([
    "Bool", "Double", "Float", "Foundation", "Int", "Int16", "Int32", "Int64", "Persist", "Sequence", "String", "Swift",
  ])

  /// The spelling of a Swift, Foundation or Persist type in a declaration of this file.
  mutating func callAsFunction(_ name: String) -> String {
    let module = Self.module(of: name)
    if module != "Swift" { publicImports.insert(module) }
    return inBody(name)
  }

  /// The spelling in a function body, for which the module need not be imported publicly.
  func inBody(_ name: String) -> String { taken.contains(name) ? "\(Self.module(of: name)).\(name)" : name }

  private static func module(of type: String) -> String {
    foundation.contains(type) ? "Foundation" : persist.contains(type) ? "Persist" : "Swift"
  }

  /// The class of an entity.
  mutating func callAsFunction(_ type: ModelClasses.Class) -> String {
    guard let module = type.module else { return SwiftName.written(type.name) }
    publicImports.insert(module)
    return "\(module).\(SwiftName.written(type.name))"
  }

  /// Records that declarations use a module.
  mutating func usePublicly(_ module: String) { publicImports.insert(module) }

  /// Records that function bodies use a module.
  mutating func use(_ module: String) { internalImports.insert(module) }

  func importLines(_ access: GenerateOptions.Access) -> [String] {
    let all = publicImports.union(internalImports)
    return all.sorted().map { module in
      access == .public && publicImports.contains(module) ? "public import \(module)" : "import \(module)"
    }
  }
}
