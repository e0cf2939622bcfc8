import Foundation

/// Builds an object member by member, omitting nil, empty and default values.
struct JSONObjectBuilder {
  private var members: [String: JSONElement] = Dictionary()

  var value: JSONElement { .object(members) }

  @inline(never)
  mutating func set(_ key: String, _ value: JSONElement?) {
    if let value { members[key] = value }
  }

  @inline(never)
  mutating func set(_ key: String, _ text: String?) { set(key, text.map(JSONElement.string)) }

  @inline(never)
  mutating func set(_ key: String, _ flag: Bool, unless standard: Bool) {
    if flag != standard { set(key, .boolean(flag)) }
  }

  mutating func set(_ key: String, _ number: Int?, unless standard: Int? = nil) {
    if let number, number != standard { set(key, .integer(Int64(number))) }
  }

  @inline(never)
  mutating func set(_ key: String, _ values: [JSONElement]) {
    if !values.isEmpty { set(key, .array(values)) }
  }

  @inline(never)
  mutating func set(_ key: String, texts: [String: String]) {
    if !texts.isEmpty { set(key, .object(texts.mapValues(JSONElement.string))) }
  }
}

/// Consumes an object member by member, tracking the key path for errors; members left over are an error.
struct JSONFields {
  let path: String
  private let file: URL?
  private var members: [String: JSONElement]

  @inline(never)
  init(_ value: JSONElement, path: String, file: URL?) throws {
    self.path = path
    self.file = file
    guard case .object(let members) = value else {
      throw Self.error("Expected an object, found \(value.kind).", path: path, file: file)
    }
    self.members = members
  }

  /// Throws an error if any member is left over.
  @inline(never)
  func finish() throws {
    guard let key = members.keys.min() else { return }
    throw error(key, "Unknown key '\(key)'.", fix: "Remove it, or correct its name.")
  }

  @inline(never)
  mutating func value(_ key: String) -> JSONElement? { members.removeValue(forKey: key) }

  mutating func text(_ key: String) throws -> String? {
    guard let value = value(key) else { return nil }
    guard case .string(let text) = value else { throw error(key, "Expected a text, found \(value.kind).") }
    return text
  }

  @inline(never)
  mutating func requiredText(_ key: String) throws -> String {
    guard let text = try text(key) else { throw error(key, "The key '\(key)' is missing.") }
    return text
  }

  mutating func flag(_ key: String, default standard: Bool) throws -> Bool {
    guard let value = value(key) else { return standard }
    guard case .boolean(let flag) = value else { throw error(key, "Expected true or false, found \(value.kind).") }
    return flag
  }

  mutating func integer(_ key: String) throws -> Int? {
    guard let value = value(key) else { return nil }
    guard case .integer(let value) = value, let number = Int(exactly: value) else {
      throw error(key, "Expected a whole number, found \(value.kind).")
    }
    return number
  }

  mutating func list(_ key: String) throws -> [(value: JSONElement, path: String)] {
    guard let value = value(key) else { return [] }
    guard case .array(let values) = value else { throw error(key, "Expected a list, found \(value.kind).") }
    return values.enumerated().map { ($1, "\(full(key))[\($0)]") }
  }

  /// Reads a list of objects with `body`, which must consume all their members.
  mutating func objects<Result>(
    _ key: String, _ body: (inout JSONFields) throws -> Result
  ) throws -> [Result] {
    var results: [Result] = []
    for (value, path) in try list(key) {
      try Self.consume(value, path: path, file: file) { results.append(try body(&$0)) }
    }
    return results
  }

  /// Reads an object with `body`, which must consume all its members.
  mutating func object<Result>(_ key: String, _ body: (inout JSONFields) throws -> Result) throws -> Result? {
    guard let value = value(key) else { return nil }
    var result: Result?
    try Self.consume(value, path: full(key), file: file) { result = try body(&$0) }
    return result
  }

  // Once for all types of results.
  @inline(never)
  private static func consume(
    _ value: JSONElement, path: String, file: URL?, _ body: (inout JSONFields) throws -> Void
  ) throws {
    var fields = try JSONFields(value, path: path, file: file)
    try body(&fields)
    try fields.finish()
  }

  mutating func texts(_ key: String) throws -> [String] {
    try list(key).map { value, path in
      guard case .string(let text) = value else {
        throw Self.error("Expected a text, found \(value.kind).", path: path, file: file)
      }
      return text
    }
  }

  /// Reads an object whose keys are names.
  mutating func map<Value>(
    _ key: String, _ body: (inout JSONFields, String) throws -> Value
  ) throws -> [String: Value] {
    guard let value = value(key) else { return Dictionary() }
    var result: [String: Value] = Dictionary()
    try Self.consume(value, path: full(key), file: file) { fields in
      for name in fields.members.keys.sorted() { result[name] = try body(&fields, name) }
    }
    return result
  }

  mutating func textMap(_ key: String) throws -> [String: String] {
    try map(key) { try $0.requiredText($1) }
  }

  @inline(never)
  func error(_ key: String, _ message: String, fix: String? = nil) -> PersistenceError {
    Self.error(message, path: full(key), file: file, fix: fix)
  }

  private func full(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  private static func error(_ message: String, path: String, file: URL?, fix: String? = nil) -> PersistenceError {
    PersistenceError(.malformedFile, at: PersistenceError.Place(file: file, key: path), message, fix: fix)
  }
}
