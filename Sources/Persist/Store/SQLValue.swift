import Foundation

/// A value as SQLite knows values.
enum SQLValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case double(Double)
  case text(String)
  case blob(Data)
}
