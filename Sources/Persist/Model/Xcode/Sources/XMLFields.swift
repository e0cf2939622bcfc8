import Foundation

/// The attributes of an XML element, read one after the other; those that nobody reads remain as unknown.
struct XMLFields {
  let element: MarkupElement
  private let log: XMLProblems
  private var rest: [String: String]
  private var restChildren: [String: String] = [:]

  init(_ element: MarkupElement, log: XMLProblems) {
    self.element = element
    self.log = log
    rest = element.attributes
  }

  /// What was taken by no one: attributes by name, child elements as markup under `<name>`.
  var unknown: [String: String] { rest.merging(restChildren) { attribute, _ in attribute } }

  mutating func keepUnknown(_ child: MarkupElement) {
    restChildren["<\(child.name)>", default: ""] += child.markup
  }

  /// A value as it stands, empty texts included.
  mutating func verbatim(_ key: String) -> String? { rest.removeValue(forKey: key) }

  /// A value, nil where it is missing or empty.
  mutating func text(_ keys: String...) -> String? {
    for key in keys {
      if let value = verbatim(key), !value.isEmpty { return value }
    }
    return nil
  }

  /// A value without which the element means nothing.
  mutating func required(_ key: String) -> String? {
    if let value = text(key) { return value }
    report("<\(element.name)> has no '\(key)'.")
    return nil
  }

  /// `YES` or `NO`; a value that is neither counts as missing, with a warning.
  mutating func flag(_ keys: String..., default standard: Bool = false) -> Bool {
    for key in keys {
      guard let value = text(key) else { continue }
      if let flag = XcodeValueText.boolean(value) { return flag }
      ignore(key, value, "expected YES or NO, so it counts as \(standard ? "YES" : "NO").")
    }
    return standard
  }

  /// `YES` or `NO` where a store's tables depend on it: a value that is neither is an error.
  mutating func layoutFlag(_ key: String) -> Bool {
    guard let value = text(key) else { return false }
    if let flag = XcodeValueText.boolean(value) { return flag }
    report("'\(key)' is '\(value)'; expected YES or NO.")
    return false
  }

  /// A whole number from 0; any other value counts as missing, with a warning.
  mutating func count(_ key: String) -> Int? {
    guard let value = text(key) else { return nil }
    if let number = Int(value), number >= 0 { return number }
    ignore(key, value, "expected a whole number from 0, so it has no effect.")
    return nil
  }

  /// A bound on a number of objects, where -1 says that there is none.
  mutating func bound(_ key: String) -> Int? {
    guard element.attributes[key] == "-1" else { return count(key) }
    _ = verbatim(key)
    return 0
  }

  /// The `<userInfo>` child's entries.
  func userInfo() -> [String: String] {
    var result: [String: String] = [:]
    for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
      guard let key = entry.attributes["key"] else {
        log.warn("An <entry> of <userInfo> has no 'key' and is left out.", line: entry.line)
        continue
      }
      result[key] = entry.attributes["value"] ?? ""
    }
    return result
  }

  /// Reports something without which a store of the model would be wrong.
  func report(_ message: String, fix: String? = nil) { log.report(message, line: element.line, fix: fix) }

  /// Reports something that the model can do without.
  func warn(_ message: String, fix: String? = nil) { log.warn(message, line: element.line, fix: fix) }

  /// Warns of a value that can't be read, and keeps it among what is unknown.
  ///
  /// - Parameter consequence: the end of the sentence that begins with the value.
  mutating func ignore(_ key: String, _ value: String, _ consequence: String, fix: String? = nil) {
    rest[key] = value
    warn("'\(key)' is '\(value)'; \(consequence)", fix: fix ?? "Correct or remove it.")
  }
}

/// The problems of one file, collected so that all are reported at once.
final class XMLProblems {
  private let file: URL?
  /// What keeps the file from being read.
  private(set) var errors: [PersistenceError] = []
  /// What was left out of the model.
  private(set) var warnings: [PersistenceError] = []
  /// A file with more problems than this is of another kind altogether.
  private static let limit = 100

  init(file: URL?) { self.file = file }

  func report(_ message: String, line: Int, fix: String? = nil) {
    guard errors.count < Self.limit else { return }
    errors.append(
      PersistenceError(.malformedFile, at: PersistenceError.Place(file: file, line: line), message, fix: fix))
  }

  func warn(_ message: String, line: Int, fix: String? = nil) {
    guard warnings.count < Self.limit else { return }
    warnings.append(
      PersistenceError(.invalidModel, at: PersistenceError.Place(file: file, line: line), message, fix: fix))
  }

  func throwIfAny() throws {
    guard !errors.isEmpty else { return }
    throw PersistenceError.combining(errors, as: .malformedFile, "The model file has \(errors.count) problems.")
  }
}
