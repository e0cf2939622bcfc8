import Foundation
public import Persist

/// A `Codable` type whose values are stored as JSON text.
///
/// ```swift
/// struct Preferences: JSONValue {
///   var columns: [String] = []
///   var isCompact = false
/// }
///
/// final class User: ManagedObject {
///   @Attribute var preferences = Preferences()
/// }
/// ```
///
/// The store contains the whole as one value, with sorted keys; its contents can't be queried. To store parts in
/// separate columns use ``CompositeValue``.
///
/// ## A type that grows
///
/// Members that a stored text of an older version lacks have the values that they have in the property's default, or in
/// ``init()`` for a property without one; optional members are nil. In elements of arrays and dictionaries, members are
/// added if the elements' type is a `JSONValue` itself. A renamed member keeps its value if ``renamedMembers`` has it.
///
/// A member that its type can't read, such as a case that an enumeration no longer has, reads as its default. The
/// context's next fetch or save throws a `PersistenceError.Code.typeMismatch` that names it. If no default is known,
/// the whole property reads as its default. In either case the text stays in the store, also if the program changes
/// other members, until this member gets another value. Members that the type no longer has stay as well.
public protocol JSONValue: StorableValue, Codable {
  /// Creates a value whose members have the initial values; nil if the type has no such value.
  ///
  /// A structure all of whose properties have initial values has this initializer; a public one declares it. Members
  /// that a stored text lacks have the values that they have in it.
  init?()

  /// The former names of members that were renamed, each with the name that the member has today.
  static var renamedMembers: [String: String] { get }
}

extension JSONValue {
  /// Nil: the type has no value that could be created without any argument.
  @_disfavoredOverload
  public init?() { return nil }

  /// No member was renamed, unless a type implements this.
  public static var renamedMembers: [String: String] { [:] }

  /// Core Data's String: the JSON text, in a `VARCHAR` column.
  public static var attributeType: AttributeType { .string }

  /// Decodes a value; members that the text lacks have those of ``init()``. Nil if the stored value isn't JSON text
  /// that the type can decode.
  public init?(stored: StoredValue) {
    let unreadable = UnreadableParts()
    guard let value = Self.read(stored, at: [], standard: { nil }, recordingIn: unreadable), unreadable.parts.isEmpty
    else {
      return nil
    }
    self = value
  }

  /// Reads an attribute; nil if it has no value of this type. Members that their types can't read are reported to the
  /// object's context.
  public static func value(of object: ManagedObject, at slot: Int) -> Self? {
    let stored = object.attributeValue(at: slot)
    if stored.isNull { return nil }
    let unreadable = UnreadableParts()
    let value = read(stored, at: [], standard: { object.declaredDefault(at: slot) }, recordingIn: unreadable)
    if value == nil { unreadable.record([], stored, as: Self.self) }
    object.reportUnreadable(unreadable.parts, at: slot)
    return value
  }

  /// Sets an attribute. What the stored text contains and this type can't read remains, unless the program has changed
  /// it.
  public static func setValue(_ value: Self, of object: ManagedObject, at slot: Int) {
    let new = value.stored
    guard let current = object.valueBeneathChanges(at: slot), current != new else {
      return object.setAttributeValue(new, at: slot)
    }
    let standard = { object.declaredDefault(at: slot) }
    let read = read(current, at: [], standard: standard, recordingIn: UnreadableParts())
    let base = read?.stored ?? standard() ?? .null
    object.setAttributeValue(base == current ? new : merged(new, over: current, readAs: base), at: slot)
  }

  /// Decodes a value in which missing and unreadable members have their defaults.
  ///
  /// - Parameters:
  ///   - path: the names that lead to the value.
  ///   - standard: returns the default of the value, whose members replace missing and unreadable ones.
  ///   - unreadable: gets the unreadable members.
  /// - Returns: nil if the stored value isn't JSON text, or if a member without a default can't be decoded.
  static func read(
    _ stored: StoredValue, at path: [String], standard: @escaping () -> StoredValue?,
    recordingIn unreadable: UnreadableParts
  ) -> Self? {
    guard case .string(let text) = stored else { return nil }
    let mayBeRenamed = renamedMembers.keys.contains { text.contains("\"\($0)\"") }
    if !mayBeRenamed, let value = try? JSONMemberDecoder.strict.decode(Self.self, from: Data(text.utf8)) {
      return value
    }
    guard let tree = JSONTree(text) else { return nil }
    var known: JSONTree?
    if case .string(let text)? = standard() ?? Self.init()?.stored { known = JSONTree(text) }
    return try? JSONMemberDecoder(tree, standard: known, at: path, recordingIn: unreadable).value(of: Self.self)
  }

  /// The difference between a new text and the text of what the program read, applied to the stored text.
  static func merged(_ new: StoredValue, over current: StoredValue, readAs base: StoredValue) -> StoredValue {
    guard case .string(let newText) = new, case .string(let currentText) = current, new != base,
      let newTree = JSONTree(newText), let tree = JSONTree(currentText)
    else { return new == base ? current : new }
    var baseTree: JSONTree?
    if case .string(let text) = base { baseTree = JSONTree(text) }
    let merged = tree.renaming(renamedMembers).merged(newTree, readAs: baseTree)
    return .string(merged == newTree ? newText : String(decoding: merged.data, as: UTF8.self))
  }

  /// The JSON text, with sorted keys. Infinity and NaN become the texts `inf`, `-inf` and `nan`. Traps if the value
  /// can't be encoded.
  public var stored: StoredValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // JSON has no numbers for infinity and NaN.
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      return .string(String(decoding: try encoder.encode(self), as: UTF8.self))
    } catch {
      preconditionFailure("A value of type \(Self.self) can't be encoded: \(error)")
    }
  }
}
