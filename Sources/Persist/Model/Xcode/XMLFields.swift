import Foundation

/// The attributes of an XML element, taken one after the other; what nobody takes stays as unknown.
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

  /// `YES` or `NO`.
  mutating func flag(_ keys: String..., default standard: Bool = false) -> Bool {
    for key in keys {
      guard let value = text(key) else { continue }
      if let flag = XcodeValueText.boolean(value) { return flag }
      report("'\(key)' is '\(value)'; expected YES or NO.")
    }
    return standard
  }

  /// A whole number from 0.
  mutating func count(_ key: String) -> Int? {
    guard let value = text(key) else { return nil }
    if let number = Int(value), number >= 0 { return number }
    report("'\(key)' is '\(value)'; expected a whole number from 0.")
    return nil
  }

  /// The `<userInfo>` child's entries.
  func userInfo() -> [String: String] {
    var result: [String: String] = [:]
    for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
      guard let key = entry.attributes["key"] else {
        log.report("An <entry> of <userInfo> has no 'key'.", line: entry.line)
        continue
      }
      result[key] = entry.attributes["value"] ?? ""
    }
    return result
  }

  func report(_ message: String, fix: String? = nil) { log.report(message, line: element.line, fix: fix) }
}

/// The problems of one file, collected so that all are told at once.
final class XMLProblems {
  private let file: URL?
  private(set) var errors: [PersistError] = []
  /// A file with more problems than this is of another kind altogether.
  private static let limit = 100

  init(file: URL?) { self.file = file }

  func report(_ message: String, line: Int, fix: String? = nil) {
    guard errors.count < Self.limit else { return }
    errors.append(PersistError(.malformedFile, at: PersistError.Place(file: file, line: line), message, fix: fix))
  }

  func throwIfAny() throws {
    guard !errors.isEmpty else { return }
    throw PersistError.combining(errors, as: .malformedFile, "The model file has \(errors.count) problems.")
  }
}
