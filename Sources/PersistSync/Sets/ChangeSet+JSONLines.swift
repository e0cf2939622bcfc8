import Foundation
import Persist

extension ChangeSet {
  /// The change set as lines of JSON, one for each fact, for people and tools that look at it.
  ///
  /// ```
  /// {"entry":"6F1C… 17","facts":2}
  /// {"entity":"Note","fact":"life","life":1,"model":"9b1c…","object":"Note 5D0A…"}
  /// {"fact":"value","life":1,"model":"9b1c…","object":"Note 5D0A…","property":"Note.title","time":"…","value":"Tea"}
  /// ```
  ///
  /// Replicas exchange ``data``, which is compact and complete. Large values and unnamed objects are outlined here.
  public var jsonLines: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let head = JSONLine(entry: "\(entry.replica.uuidString) \(entry.number)", facts: count)
      return try ([head] + facts.map(Self.line)).map {
        String(decoding: try encoder.encode($0), as: UTF8.self) + "\n"
      }.joined()
    }
  }

  private struct JSONLine: Encodable {
    var entry: String?
    var facts: Int?
    var fact: String?
    var object: String?
    var other: String?
    var property: String?
    var entity: String?
    var model: String?
    var life: UInt32?
    var otherLife: UInt32?
    var time: String?
    var replica: String?
    var value: String?
  }

  private static func line(_ fact: Fact) throws -> JSONLine {
    var line = JSONLine()
    line.object = fact.key.object?.text
    line.other = fact.key.other?.text
    if let property = fact.key.property {
      line.property = "\(property.entity).\(property.name)"
      if case .part(_, _, let path) = fact.key { line.property? += ".\(path.text)" }
      line.model = String(property.model.number, radix: 16)
    }
    if fact.key.isRegister {
      let register = try Register(fact.value)
      line.life = register.life
      if register.otherLife > 0 { line.otherLife = register.otherLife }
      line.time = Date(timeIntervalSince1970: Double(register.stamp.time >> 10) / 1_000_000)
        .formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
      line.replica = register.stamp.replica == Stamp.origin ? nil : register.stamp.replica.uuidString
      line.value = try text(register, fact.key)
    }
    switch fact.key {
    case .life:
      let life = try Life(fact.value)
      (line.fact, line.life, line.entity) = ("life", life.count, life.entity)
      line.model = String(life.model.number, radix: 16)
    case .value: line.fact = "value"
    case .owner: line.fact = "owner"
    case .member: line.fact = "member"
    case .place: line.fact = "place"
    case .part: line.fact = "part"
    case .union: line.fact = "union"
    case .model(let tag):
      (line.fact, line.model) = ("model", String(tag.number, radix: 16))
      line.value = String(decoding: fact.value, as: UTF8.self)
    case .cover(let replica):
      var reader = ByteReader(fact.value)
      (line.fact, line.replica, line.value) = ("cover", replica.uuidString, "\(try reader.fixed64())")
    case .pass(let identity):
      let passage = try Passage(fact.value)
      (line.fact, line.object, line.value) = ("\(passage.kind)", identity.text, passage.reason)
    }
    return line
  }

  private static func text(_ register: Register, _ key: FactKey) throws -> String? {
    switch key {
    case .member: return register.isPresent ? "present" : "absent"
    case .place: return register.content.map { hexadecimal($0) }.joined()
    case .part: return register.content.isEmpty ? nil : String(decoding: register.content, as: UTF8.self)
    default:
      switch try PortableValue.content(register.content) {
      case .value(let value): return value.isNull ? nil : PortableValue.text(value)
      case .reference(let identity, _): return identity.text
      case .large(let value): return Measure.count(value.size, "byte")
      }
    }
  }
}

private func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

extension PortableValue {
  /// The value for people.
  static func text(_ value: StoredValue) -> String {
    switch value {
    case .null, .objectID: ""
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): value.description
    case .string(let value), .uri(let value): value
    case .date(let value): value.formatted(.iso8601)
    case .data(let value): Measure.count(value.count, "byte")
    case .uuid(let value): value.uuidString
    case .composite(let parts):
      parts.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ")
    }
  }
}

extension Identity {
  /// The identity for people: the entity with the identifying value, or with the place of creation.
  var text: String {
    func read() throws -> String {
      var reader = ByteReader(bytes)
      let kind = try reader.byte()
      guard kind == UInt8(ascii: "n") else { throw SyncFormat.error("It has no name.") }
      let entity = try reader.text()
      guard case .value(let value) = try PortableValue.content(reader.rest()) else { return entity }
      return "\(entity) \(PortableValue.text(value))"
    }
    return (try? read()) ?? bytes.map(hexadecimal).joined()
  }
}
