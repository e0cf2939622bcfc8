import Persist

/// The source code of a relationship's property in a generated class, with Core Data's accessors for a to-many one.
struct RelationshipText {
  let relationship: RelationshipDescription
  let slot: Int
  /// The property's name in Swift, unescaped.
  let name: String
  let access: String

  func lines(to destination: String, _ types: inout TypeNames) -> [String] {
    relationship.isToMany ? toMany(destination, &types) : toOne(destination)
  }

  private func toOne(_ destination: String) -> [String] {
    [
      "  \(access)var \(SwiftName.written(name)): \(destination)? {",
      "    get { toOne(at: \(slot), as: \(destination).self) }",
      "    set { setToOne(newValue, at: \(slot)) }",
      "  }",
    ]
  }

  private func toMany(_ destination: String, _ types: inout TypeNames) -> [String] {
    let set = "\(types("RelationshipSet"))<\(destination)>"
    let members = "toMany(at: \(slot), of: \(destination).self)"
    let capital = SwiftName.capitalized(name)
    var lines = [
      "  \(access)var \(SwiftName.written(name)): \(set) {",
      "    get { \(members) }",
      "    set { \(members).replace(with: newValue) }",
      "  }",
      "",
      "  \(access)func addTo\(capital)(_ value: \(destination)) { \(members).insert(value) }",
      "  \(access)func addTo\(capital)(_ values: some \(types("Sequence"))<\(destination)>) {",
      "    \(members).insert(contentsOf: values)",
      "  }",
      "  \(access)func removeFrom\(capital)(_ value: \(destination)) { \(members).remove(value) }",
      "  \(access)func removeFrom\(capital)(_ values: some \(types("Sequence"))<\(destination)>) {",
      "    \(members).remove(contentsOf: values)",
      "  }",
    ]
    if relationship.isOrdered { lines += places(in: members, of: destination, capital, &types) }
    return lines
  }

  private func places(
    in members: String, of destination: String, _ capital: String, _ types: inout TypeNames
  ) -> [String] {
    let (int, indexes) = (types("Int"), types("IndexSet"))
    return [
      "  \(access)func insertInto\(capital)(_ value: \(destination), at index: \(int)) {",
      "    \(members).insert(value, at: index)",
      "  }",
      "  \(access)func insertInto\(capital)(_ values: [\(destination)], at indexes: \(indexes)) {",
      "    \(members).insert(values, at: indexes)",
      "  }",
      "  \(access)func removeFrom\(capital)(at index: \(int)) { \(members).remove(at: index) }",
      "  \(access)func removeFrom\(capital)(at indexes: \(indexes)) {",
      "    \(members).remove(at: indexes)",
      "  }",
      "  \(access)func replace\(capital)(at index: \(int), with value: \(destination)) {",
      "    \(members).replace(at: index, with: value)",
      "  }",
      "  \(access)func replace\(capital)(at indexes: \(indexes), with values: [\(destination)]) {",
      "    \(members).replace(at: indexes, with: values)",
      "  }",
    ]
  }
}
