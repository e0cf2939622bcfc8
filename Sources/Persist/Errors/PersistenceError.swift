public import Foundation

/// What went wrong, where, and what to do about it.
///
/// The one error type of Persist. ``code`` is stable and meant for programs; ``message`` and ``fix`` are
/// sentences for people. An error that stands for several, as when a model or a save has many problems at
/// once, lists them all in ``errors``.
///
/// ```swift
/// do { try context.save() }
/// catch let error as PersistenceError where error.code == .validationMissingRequired {
///   print(error.place.entity ?? "", error.place.property ?? "")
/// }
/// ```
///
/// It has two texts: ``description`` is for logs and contains everything that is known; `localizedDescription` may be
/// shown to clients and users.
public struct PersistenceError: Error, Sendable, Hashable {
  /// What kind of error this is. Compare it with the constants of ``Code``.
  public var code: Code
  /// Where it happened: entity and property, file and line, store, SQL.
  public var place: Place
  /// What happened, with the values that matter. It names files without their folders, and holds no SQL.
  public var message: String
  /// What SQLite itself said, with its result code; nil where another layer found the error. It may name tables.
  public var engineMessage: String?
  /// What to do, where there is something to do. Advice is for the program's author or operator, and may name paths.
  public var fix: String?
  /// The single errors that this one stands for; empty for an error that stands for itself.
  public var errors: [PersistenceError]
  /// What is known beyond words, read through a property for its kind, such as ``mergeConflicts``.
  package var details: Details?

  /// A value of a layer above, which this one can't name.
  package struct Details: Sendable, Hashable {
    package let value: any Sendable & Hashable

    package init(_ value: some Sendable & Hashable) { self.value = value }

    package static func == (left: Details, right: Details) -> Bool { isEqual(left.value, right.value) }
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }

    private static func isEqual<Value: Hashable>(_ left: Value, _ right: any Hashable) -> Bool {
      right as? Value == left
    }
  }

  public init(
    _ code: Code, at place: Place = .unknown, _ message: String, engineMessage: String? = nil, fix: String? = nil,
    errors: [PersistenceError] = []
  ) {
    self.code = code
    self.place = place
    self.message = message
    self.engineMessage = engineMessage
    self.fix = fix
    self.errors = errors
  }

  /// One error for several: the only one itself, or an error of `code` that lists them all.
  ///
  /// - Parameter problems: at least one error.
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
    text += ": \(fullMessage)"
    if let fix { text += " \(fix)" }
    for error in errorsAdvisingOnce { text += "\n- \(error)" }
    return text
  }

  /// ``errors``, with advice that several share left to the last of them, and none that this error gives itself.
  package var errorsAdvisingOnce: [PersistenceError] {
    var given: Set<String> = fix.map { [$0] } ?? []
    return Array(
      errors.reversed().map { error in
        var error = error
        if let fix = error.fix, !given.insert(fix).inserted { error.fix = nil }
        return error
      }.reversed())
  }

  /// A text for clients and users, which is `localizedDescription` too: without paths, SQL and SQLite's own words.
  ///
  /// It is the message, after the entity and the property that it is about where it doesn't name them; the messages of
  /// ``errors`` follow, each in a line.
  public var errorDescription: String? {
    ([placedMessage] + errors.map { "- \($0.errorDescription ?? $0.message)" }).joined(separator: "\n")
  }

  /// The message with SQLite's own words.
  package var fullMessage: String { engineMessage.map { "\(message) SQLite says: \($0)." } ?? message }

  private var placedMessage: String {
    let names = [place.entity, place.property].compactMap { $0 }
    let text = names.allSatisfy { message.contains($0) } ? message : "\(names.joined(separator: ".")): \(message)"
    return place.withoutFolders(text)
  }

  public var recoverySuggestion: String? { fix }
}
