import LinkedSQLite
import Foundation

extension SQLiteConnection {
  /// Registers every function that the store's triggers, views and indexes call and that SQLite doesn't have.
  ///
  /// Most stores have none. Therefore it is called when SQLite doesn't know a function of a statement, and before
  /// changes to the schema, for which SQLite prepares every trigger and view again.
  ///
  /// Core Data registers its own functions on each connection and creates triggers that call them; without them every
  /// write to such a table fails. The name of a function determines its implementation:
  ///
  /// - a function whose result is discarded only reports to Core Data which rows a trigger changed: it returns null;
  /// - a function that lowercases, uppercases or folds text, or returns the time, does so;
  /// - any other function fails when it is called, with its name: guessing would write wrong values.
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  func defineMissingFunctions() throws -> Bool {
    let definitions = try all(.definitions) { row in
      (definition: StoredDefinition(sql: row.text(1)), isTrigger: row.text(0) == "trigger")
    }
    return try !definitions.isEmpty && defineFunctions(calledBy: definitions)
  }

  private func defineFunctions(
    calledBy definitions: [(definition: StoredDefinition, isTrigger: Bool)]
  ) throws -> Bool {
    var hasDefined = false
    let calls = definitions.reduce(into: Set<StoredFunctionCalls.Call>()) { calls, place in
      calls.formUnion(StoredFunctionCalls(in: place.definition, isTrigger: place.isTrigger).calls)
    }
    let names = Dictionary(grouping: calls, by: { $0.name.lowercased() })
    for (_, uses) in names.sorted(on: \.key) {
      guard let name = uses.first?.name, !Self.isKeyword(name),
        try first(.knows(function: name), { _ in true }) == nil
      else { continue }
      define(StoreFunction(named: name, isForEffect: uses.allSatisfy(\.isForEffect)), as: name)
      hasDefined = true
    }
    return hasDefined
  }

  /// Registers the functions that the triggers of Persist's own derived columns call. Other programs that write to such
  /// a store also have to register them; reading doesn't need them.
  func defineDerivedFunctions() {
    define(.uppercase, as: "PersistUppercase")
    define(.lowercase, as: "PersistLowercase")
    define(.canonical, as: "PersistCanonical")
  }

  private static func isKeyword(_ word: String) -> Bool {
    sqlite3_keyword_check(word, Int32(clamping: word.utf8.count)) != 0
  }

  private func define(_ function: StoreFunction, as name: String) {
    let behavior: Int32 = function == .now ? 0 : SQLITE_DETERMINISTIC
    let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS | behavior
    switch function {
    case .report:
      sqlite3_create_function_v2(
        handle, name, -1, flags, nil, { context, _, _ in sqlite3_result_null(context) }, nil, nil, nil)
    case .now:
      sqlite3_create_function_v2(
        handle, name, -1, flags, nil,
        { context, _, _ in sqlite3_result_double(context, Date().timeIntervalSinceReferenceDate) }, nil, nil, nil)
    case .lowercase:
      sqlite3_create_function_v2(
        handle, name, -1, flags, nil, { mapText(in: $0, count: $1, $2) { $0.lowercased() } }, nil, nil, nil)
    case .uppercase:
      sqlite3_create_function_v2(
        handle, name, -1, flags, nil, { mapText(in: $0, count: $1, $2) { $0.uppercased() } }, nil, nil, nil)
    case .canonical:
      sqlite3_create_function_v2(
        handle, name, -1, flags, nil,
        {
          mapText(in: $0, count: $1, $2) {
            $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
          }
        },
        nil, nil, nil)
    case .unknown:
      let context = Unmanaged.passRetained(FunctionName(name)).toOpaque()
      sqlite3_create_function_v2(
        handle, name, -1, flags, context,
        { context, _, _ in
          let name = sqlite3_user_data(context).map {
            Unmanaged<FunctionName>.fromOpaque($0).takeUnretainedValue().text
          }
          sqlite3_result_error(context, "The store calls the function \(name ?? ""), which Persist doesn't define.", -1)
        }, nil, nil,
        { context in if let context { Unmanaged<FunctionName>.fromOpaque(context).release() } })
    }
  }
}

/// The implementation of a function in a store's triggers, derived from its name.
enum StoreFunction: Sendable, Equatable {
  case report, now, lowercase, uppercase, canonical, unknown

  init(named name: String, isForEffect: Bool) {
    let name = name.lowercased()
    if isForEffect || name.hasPrefix("nscoredatadatrigger") {
      self = .report
    } else if name.contains("canonical") || name.contains("normaliz") {
      self = .canonical
    } else if name.contains("lower") {
      self = .lowercase
    } else if name.contains("upper") {
      self = .uppercase
    } else if name.hasSuffix("now") || name.contains("currentdate") || name.contains("timestamp") {
      self = .now
    } else {
      self = .unknown
    }
  }
}

/// A function's name, owned by SQLite with the function.
private final class FunctionName: Sendable {
  let text: String
  init(_ text: String) { self.text = text }
}

/// Maps text; null remains null, and other values are converted to text.
private func mapText(
  in context: OpaquePointer?, count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?,
  _ change: (String) -> String
) {
  guard count > 0, let argument = arguments?[0], sqlite3_value_type(argument) != SQLITE_NULL,
    let start = sqlite3_value_text(argument)
  else { return sqlite3_result_null(context) }
  let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(argument)))
  var result = change(String(decoding: bytes, as: UTF8.self))
  result.withUTF8 { utf8 in
    utf8.withMemoryRebound(to: CChar.self) {
      persist_sqlite3_result_text_copy(context, $0.baseAddress, UInt64($0.count))
    }
  }
}
