/// Whole rows of any table.
extension SQLText {
  static func everything(in table: String, _ columns: [String]) -> SQLText {
    "SELECT \(names: columns) FROM \(name: table)"
  }
}
