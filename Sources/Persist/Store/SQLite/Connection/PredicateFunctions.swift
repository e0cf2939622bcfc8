import LinkedSQLite
import Foundation

/// The state of predicate functions between calls: compiled patterns, and the error of a failed call, which SQLite
/// would convert to text.
///
/// Belongs to one connection, and so to one thread at a time.
final class PredicateFunctions {
  fileprivate let evaluator = ExpressionEvaluator()
  private var error: (any Error)?

  /// The error thrown by a function in the last failed statement.
  func takeError() -> (any Error)? {
    defer { error = nil }
    return error
  }

  fileprivate func fail(_ error: any Error, _ context: OpaquePointer?) {
    self.error = error
    sqlite3_result_error(context, "\(error)", -1)
  }
}

extension SQLiteConnection {
  /// Registers the functions of predicates: the same code that evaluates them in memory.
  ///
  /// Only Persist's own statements can call them (`SQLITE_DIRECTONLY`), not a store's triggers and views.
  func definePredicateFunctions() {
    define(.fold, arguments: 2) { context, _, arguments in
      guard let text = argument(arguments, 0) else { return sqlite3_result_null(context) }
      result(TextComparison(options(arguments, 1)).folded(text), context)
    }
    define(.endsWith, arguments: 3) { context, _, arguments in
      guard let text = argument(arguments, 0), let part = argument(arguments, 2)
      else { return sqlite3_result_null(context) }
      sqlite3_result_int(context, TextComparison(options(arguments, 1)).ends(text, with: part) ? 1 : 0)
    }
    define(.like, arguments: 3) { context, _, arguments in
      guard let text = argument(arguments, 0), let pattern = argument(arguments, 2), let functions = functions(context)
      else { return sqlite3_result_null(context) }
      let wildcards = functions.evaluator.wildcardPattern(pattern, options(arguments, 1))
      sqlite3_result_int(context, wildcards.matches(text) ? 1 : 0)
    }
    define(.matches, arguments: 3) { context, _, arguments in
      guard let text = argument(arguments, 0), let pattern = argument(arguments, 2), let functions = functions(context)
      else { return sqlite3_result_null(context) }
      do {
        let expression = try functions.evaluator.regularExpression(pattern, options(arguments, 1))
        sqlite3_result_int(context, try expression.matches(text) ? 1 : 0)
      } catch {
        functions.fail(error, context)
      }
    }
    define(.uppercase, arguments: 1) { context, _, arguments in
      argument(arguments, 0).map { result($0.uppercased(), context) } ?? sqlite3_result_null(context)
    }
    define(.lowercase, arguments: 1) { context, _, arguments in
      argument(arguments, 0).map { result($0.lowercased(), context) } ?? sqlite3_result_null(context)
    }
    define(.canonical, arguments: 1) { context, _, arguments in
      argument(arguments, 0).map { result(TextComparison.canonical($0), context) }
        ?? sqlite3_result_null(context)
    }
    define(.length, arguments: 1) { context, _, arguments in
      argument(arguments, 0).map { sqlite3_result_int64(context, Int64($0.utf16.count)) }
        ?? sqlite3_result_null(context)
    }
    define(.absolute, arguments: 1) { context, _, arguments in
      switch number(arguments, 0)?.absolute {
      case .integer(let value)?: sqlite3_result_int64(context, value)
      case .double(let value)?: sqlite3_result_double(context, value)
      case .decimal?, nil: sqlite3_result_null(context)
      }
    }
    define(.bitwiseXor, arguments: 2) { context, _, arguments in
      guard let left = number(arguments, 0)?.whole, let right = number(arguments, 1)?.whole
      else { return sqlite3_result_null(context) }
      sqlite3_result_int64(context, left ^ right)
    }
    define(.decimalOrder, arguments: 2) { context, _, arguments in
      guard let left = number(arguments, 0), let right = number(arguments, 1), let order = left.order(to: right)
      else { return sqlite3_result_null(context) }
      sqlite3_result_int(context, order == .less ? -1 : order == .equal ? 0 : 1)
    }
    define(.decimalKey, arguments: 1) { context, _, arguments in
      guard let key = decimalText(arguments, 0)?.sortKey else { return sqlite3_result_null(context) }
      key.withUnsafeBytes { persist_sqlite3_result_blob_copy(context, $0.baseAddress, UInt64($0.count)) }
    }
    define(.decimalResult, arguments: 3) { context, _, arguments in
      guard let sign = argument(arguments, 0), let left = number(arguments, 1)?.decimal,
        let right = number(arguments, 2)?.decimal,
        let value = decimal(sign, .decimal(left), .decimal(right))?.decimal.flatMap(DecimalColumn.init)
      else { return sqlite3_result_null(context) }
      switch value {
      case .integer(let value): sqlite3_result_int64(context, value)
      case .double(let value): sqlite3_result_double(context, value)
      case .text(let text): result(blob: text, context)
      }
    }
  }

  private typealias Body = @convention(c) (
    OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
  ) -> Void

  private func define(_ function: SQLFunction, arguments: Int32, _ body: Body) {
    // Unretained: the connection owns the functions' state and closes before releasing it.
    sqlite3_create_function_v2(
      handle, "\(function.name)", arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      Unmanaged.passUnretained(predicateFunctions).toOpaque(), body, nil, nil, nil)
  }
}

private func functions(_ context: OpaquePointer?) -> PredicateFunctions? {
  sqlite3_user_data(context).map { Unmanaged<PredicateFunctions>.fromOpaque($0).takeUnretainedValue() }
}

/// An argument as text, decoded like a row's text; nil for null.
private func argument(_ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int) -> String? {
  guard let value = arguments?[index], sqlite3_value_type(value) != SQLITE_NULL, let start = sqlite3_value_text(value)
  else { return nil }
  let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  return String(decoding: bytes, as: UTF8.self)
}

private func options(
  _ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int
) -> FetchPredicate.Options {
  guard let value = arguments?[index] else { return [] }
  return FetchPredicate.Options(rawValue: Int(sqlite3_value_int64(value)))
}

/// An argument as a number: the value of a decimal column, decoded like a row's decimal, or a constant compared with
/// it.
private func number(_ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int) -> Number? {
  guard let value = arguments?[index] else { return nil }
  switch sqlite3_value_type(value) {
  case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
  case SQLITE_FLOAT: return .double(sqlite3_value_double(value))
  case SQLITE_NULL: return nil
  default: return argument(arguments, index).flatMap { Decimal(string: $0) }.map(Number.decimal)
  }
}

/// The digits of an argument, the value of a decimal column; nil if it isn't a finite number.
private func decimalText(
  _ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int
) -> DecimalText? {
  guard let value = arguments?[index] else { return nil }
  switch sqlite3_value_type(value) {
  case SQLITE_INTEGER: return DecimalText("\(sqlite3_value_int64(value))")
  case SQLITE_FLOAT: return DecimalText("\(sqlite3_value_double(value))")
  default: return argument(arguments, index).flatMap { DecimalText($0) }
  }
}

/// The result of an operator of ``SQLFunction/decimalResult``.
private func decimal(_ sign: String, _ left: Number, _ right: Number) -> Number? {
  switch sign {
  case "+": Number.add(left, right)
  case "-": Number.subtract(left, right)
  case "*": Number.multiply(left, right)
  case "/": Number.divide(left, right)
  case "abs": left.absolute
  default: nil
  }
}

private func result(blob text: String, _ context: OpaquePointer?) {
  var text = text
  text.withUTF8 { persist_sqlite3_result_blob_copy(context, $0.baseAddress, UInt64($0.count)) }
}

private func result(_ text: String, _ context: OpaquePointer?) {
  var text = text
  text.withUTF8 { utf8 in
    utf8.withMemoryRebound(to: CChar.self) {
      persist_sqlite3_result_text_copy(context, $0.baseAddress, UInt64($0.count))
    }
  }
}
