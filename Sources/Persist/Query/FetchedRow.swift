/// One row of dictionary results: values by the names of the request's columns, without a managed object.
///
/// ```swift
/// for row in try context.fetch(FetchRequest<FetchedRow>("Item")) {
///   print(row["name"] as? String ?? "")
/// }
/// ```
public struct FetchedRow: Sendable {
  /// The names of the columns, shared by all rows of a request.
  package final class Columns: Sendable {
    let names: [String]
    let places: [String: Int]

    package init(_ names: [String]) {
      self.names = names
      places = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }
  }

  package let columns: Columns
  package let values: [StoredValue]

  package init(columns: Columns, values: [StoredValue]) {
    self.columns = columns
    self.values = values
  }

  /// The names of the columns with a non-null value in this row, in the order of the request.
  public var keys: [String] { zip(columns.names, values).compactMap { $1.isNull ? nil : $0 } }

  /// The value of a column; nil if it is null or there is no such column.
  public func storedValue(forKey name: String) -> StoredValue? {
    guard let place = columns.places[name], !values[place].isNull else { return nil }
    return values[place]
  }

  /// The non-null values of the row.
  public var storedValues: [String: StoredValue] {
    Dictionary(
      zip(columns.names, values).filter { !$1.isNull }.map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
  }
}

extension FetchedRow: Hashable {
  public static func == (left: FetchedRow, right: FetchedRow) -> Bool {
    left.values == right.values && left.columns.names == right.columns.names
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension FetchedRow: CustomStringConvertible {
  public var description: String {
    "[" + keys.map { "\($0): \(storedValue(forKey: $0) ?? .null)" }.joined(separator: ", ") + "]"
  }
}
