/// A column with keys of another table's rows.
struct KeyReference: Sendable {
  let table: String
  let column: String
  let destination: String
  /// The valid entity numbers of those rows.
  let destinationNumbers: [Int]
}
