extension String {
  /// A name in camel case as words: "danglingRelationship" as "dangling relationship".
  package var camelCaseWords: String { reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) } }
}
