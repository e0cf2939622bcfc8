import Foundation
import Persist

/// The content of a property list or keyed archive as indented text: values, classes and members, of any class.
struct ArchiveText {
  private static let depthLimit = 24
  private static let lengthLimit = 65536
  private let objects: [PropertyList]?
  private var lines: [String] = []
  private var length = 0

  /// Returns nil for data that isn't a property list.
  static func text(of data: Data) -> String? {
    guard let list = try? PropertyList(data: data) else { return nil }
    var text = ArchiveText(list)
    if text.objects != nil, let top = list["$top"]?.dictionaryValue {
      for (name, value) in top.sorted(by: { $0.key < $1.key }) {
        text.write(value, label: top.count == 1 ? "" : "\(name): ", depth: 0)
      }
    } else {
      text.write(list, label: "", depth: 0)
    }
    return text.lines.joined(separator: "\n")
  }

  private init(_ list: PropertyList) {
    objects = list["$archiver"]?.stringValue == nil ? nil : list["$objects"]?.arrayValue
  }

  private mutating func append(_ text: String, depth: Int) {
    guard length < Self.lengthLimit else { return }
    let line = String(repeating: "  ", count: depth) + text
    length += line.utf8.count + 1
    lines.append(length < Self.lengthLimit ? line : "…")
  }

  /// - Parameter links: The number of objects that led to the value without a line of their own.
  private mutating func write(_ value: PropertyList, label: String, depth: Int, links: Int = 0) {
    guard length < Self.lengthLimit else { return }
    guard depth < Self.depthLimit, links < Self.depthLimit else { return append(label + "…", depth: depth) }
    switch value {
    case .uid(let number):
      guard let objects, number < UInt64(objects.count) else { return append(label + "#\(number)", depth: depth) }
      write(object: objects[Int(number)], label: label, depth: depth, links: links + 1)
    case .array(let elements):
      append(label + Measure.count(elements.count, "element"), depth: depth)
      for element in elements { write(element, label: "", depth: depth + 1) }
    case .dictionary(let entries):
      append(label + Measure.count(entries.count, "entry"), depth: depth)
      for (key, entry) in entries.sorted(by: { $0.key < $1.key }) {
        write(entry, label: "\(key): ", depth: depth + 1)
      }
    default: append(label + Self.text(value), depth: depth)
    }
  }

  /// An object of an archive: its class, and its members; collections by their elements.
  private mutating func write(object: PropertyList, label: String, depth: Int, links: Int) {
    guard let members = object.dictionaryValue, let name = className(of: members) else {
      return write(object, label: label, depth: depth, links: links)
    }
    if let text = members["NS.string"] { return write(text, label: label, depth: depth, links: links) }
    if let time = members["NS.time"]?.doubleValue {
      return append(label + ValueWords.date(Date(timeIntervalSinceReferenceDate: time)), depth: depth)
    }
    if let keys = members["NS.keys"]?.arrayValue, let values = members["NS.objects"]?.arrayValue {
      append(label + "\(name), \(Measure.count(keys.count, "entry"))", depth: depth)
      for (key, value) in zip(keys, values) { write(value, label: "\(keyText(key)): ", depth: depth + 1) }
      return
    }
    if let elements = members["NS.objects"]?.arrayValue {
      append(label + "\(name), \(Measure.count(elements.count, "element"))", depth: depth)
      for element in elements { write(element, label: "", depth: depth + 1) }
      return
    }
    append(label + name, depth: depth)
    for (key, member) in members.sorted(by: { $0.key < $1.key }) where key != "$class" {
      write(member, label: "\(key): ", depth: depth + 1)
    }
  }

  private func className(of members: [String: PropertyList]) -> String? {
    guard let objects, case .uid(let number)? = members["$class"], number < UInt64(objects.count) else { return nil }
    return objects[Int(number)]["$classname"]?.stringValue
  }

  private func keyText(_ key: PropertyList) -> String {
    guard case .uid(let number) = key, let objects, number < UInt64(objects.count) else { return Self.text(key) }
    return objects[Int(number)].stringValue ?? Self.text(objects[Int(number)])
  }

  private static func text(_ value: PropertyList) -> String {
    switch value {
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .unsigned(let value): String(value)
    case .real(let value): ValueWords.number(value)
    case .string(let value): value == "$null" ? "no value" : ValueWords.text(value, shown: 10_000)
    case .date(let value): ValueWords.date(value)
    case .data(let value): ValueWords.data(value)
    case .uid(let number): "#\(number)"
    case .array, .dictionary: "…"
    case .null: "no value"
    }
  }
}
