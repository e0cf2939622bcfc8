public import Foundation

/// An error with its place and advice on how to resolve it.
///
/// Persist's only error type. ``code`` is stable and meant for programs; ``message`` and ``fix`` are sentences for
/// people. An error that represents several, such as all the problems of a model or a save, lists them in ``errors``.
///
/// ```swift
/// do { try context.save() }
/// catch let error as PersistenceError where error.code == .validationMissingRequired {
///   print(error.place.entity ?? "", error.place.property ?? "")
/// }
/// ```
///
/// ``description`` is for logs and contains everything that is known; `localizedDescription` may be shown to clients
/// and users.
public struct PersistenceError: Error, Sendable, Hashable {
  // In a box: errors are made and thrown in a thousand places, where copies of this many fields are machine code.
  private indirect enum Content: Sendable, Hashable {
    case fields(Fields)
  }

  private struct Fields: Sendable, Hashable {
    var code: Code
    var place: Place
    var message: String
    var engineMessage: String?
    var fix: String?
    var errors: [PersistenceError]
    var details: Details?
  }

  private var content: Content
  private var fields: Fields {
    get { switch content { case .fields(let fields): fields } }
    @inline(never) set { content = .fields(newValue) }
  }

  /// The kind of error, to compare with the constants of ``Code``.
  public var code: Code {
    get { fields.code }
    set { fields.code = newValue }
  }
  /// The place of the error: entity and property, file and line, store, SQL.
  public var place: Place {
    get { fields.place }
    set { fields.place = newValue }
  }
  /// A description of the problem with the relevant values. Files are named without their folders, and there is no SQL.
  public var message: String {
    get { fields.message }
    set { fields.message = newValue }
  }
  /// SQLite's own message with its result code; nil if another layer found the error. It may name tables.
  public var engineMessage: String? {
    get { fields.engineMessage }
    set { fields.engineMessage = newValue }
  }
  /// Advice on how to resolve the problem, if there is any. The advice is for the program's author or operator and may
  /// contain paths.
  public var fix: String? {
    get { fields.fix }
    set { fields.fix = newValue }
  }
  /// The individual errors that this one combines; empty for a single error.
  public var errors: [PersistenceError] {
    get { fields.errors }
    set { fields.errors = newValue }
  }
  /// Structured details, read through a property for their kind, such as ``mergeConflicts``.
  package var details: Details? {
    get { fields.details }
    set { fields.details = newValue }
  }

  /// A value from a higher layer, whose type can't be named here.
  package struct Details: Sendable, Hashable {
    package let value: any Sendable & Hashable

    package init(_ value: some Sendable & Hashable) { self.value = value }

    package static func == (left: Details, right: Details) -> Bool { isEqual(left.value, right.value) }
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }

    private static func isEqual<Value: Hashable>(_ left: Value, _ right: any Hashable) -> Bool {
      right as? Value == left
    }
  }

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of error.
  ///   - place: The place where it happened, as far as it is known.
  ///   - message: A sentence about what happened, with the values that matter.
  ///   - engineMessage: The database's own message, if it reported the error.
  ///   - fix: Advice for the program's author or operator.
  ///   - errors: The individual errors, if this one combines several.
  @inline(never)
  public init(
    _ code: Code, at place: Place = .unknown, _ message: String, engineMessage: String? = nil, fix: String? = nil,
    errors: [PersistenceError] = []
  ) {
    content = .fields(
      Fields(code: code, place: place, message: message, engineMessage: engineMessage, fix: fix, errors: errors))
  }

  // The two forms that nearly all callers use. Default arguments would be compiled at every call.
  @inline(never)
  package init(_ code: Code, at place: Place, _ message: String, fix: String? = nil) {
    self.init(code, at: place, message, engineMessage: nil, fix: fix, errors: [])
  }

  @inline(never)
  package init(_ code: Code, _ message: String, fix: String? = nil) {
    self.init(code, at: .unknown, message, engineMessage: nil, fix: fix, errors: [])
  }

  /// Combines several errors: returns the only one unchanged, or an error with `code` that lists them all.
  ///
  /// - Parameters:
  ///   - problems: at least one error.
  ///   - code: the code of an error that lists several problems.
  ///   - message: the message of that error.
  @inline(never)
  public static func combining(
    _ problems: [PersistenceError], as code: Code, _ message: @autoclosure () -> String
  ) -> PersistenceError {
    if problems.count == 1, let only = problems.first { return only }
    return PersistenceError(code, message(), errors: problems)
  }
}

extension PersistenceError: CustomStringConvertible, LocalizedError {
  /// Everything that is known, for logs: code, place with paths and SQL, messages, advice, and all ``errors``.
  public var description: String {
    var text = "\(code.name) (\(code.rawValue))"
    if !place.description.isEmpty { text += " at \(place)" }
    // Messages that also stand alone begin with their place.
    let named = "\(placeNames.joined(separator: ".")): "
    text += ": \(fullMessage.hasPrefix(named) ? fullMessage.dropFirst(named.count) : fullMessage[...])"
    if let fix { text += " \(fix)" }
    for error in errorsAdvisingOnce { text += "\n- \(error)" }
    return text.legible
  }

  /// ``errors`` without repeated advice: advice shared by several errors stays only on the last, and advice that this
  /// error gives itself is removed.
  package var errorsAdvisingOnce: [PersistenceError] {
    var given: Set<String> = fix.map { [$0] } ?? []
    return Array(
      errors.reversed().map { error in
        var error = error
        if let fix = error.fix, !given.insert(fix).inserted { error.fix = nil }
        return error
      }.reversed())
  }

  /// A text for clients and users, also used as `localizedDescription`: without paths, SQL and SQLite's own message.
  ///
  /// It consists of the message, prefixed with the entity and property unless the message already names them, and the
  /// messages of the first 20 ``errors``, one per line.
  public var errorDescription: String? {
    // Two unrelated models may differ in thousands of ways.
    let shown = errors.prefix(20)
    var lines = [placedMessage] + shown.map { "- \($0.errorDescription ?? $0.message)" }
    if errors.count > shown.count { lines.append("- and \(errors.count - shown.count) more.") }
    return lines.joined(separator: "\n").legible
  }

  /// The message followed by SQLite's own.
  package var fullMessage: String {
    let engine = place.store?.isFileURL == false ? "The server" : "SQLite"
    return engineMessage.map { "\(message) \(engine) says: \($0)." } ?? message
  }

  private var placeNames: [String] { [place.entity, place.property].compactMap { $0 } }

  private var placedMessage: String {
    let names = placeNames
    let text = names.allSatisfy { message.contains($0) } ? message : "\(names.joined(separator: ".")): \(message)"
    return place.withoutFolders(text)
  }

  public var recoverySuggestion: String? { fix }
}
