/// A column with keys of another table's rows.
struct KeyReference: Sendable {
  let table: String
  let column: String
  let destination: String
  /// The entity numbers that the rows may have.
  let destinationNumbers: [Int]
}
