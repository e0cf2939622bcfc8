/// The representation of attribute values in row slots: the contract between stores, which fill rows, and objects,
/// which read them.
///
/// | attribute type | slot content |
/// |---|---|
/// | `int16 int32 int64` | an integer |
/// | `boolean` | an integer, 0 for false |
/// | `double float` | a double |
/// | `date` | a double: seconds since 2001-01-01 00:00 UTC |
/// | `decimal` | bytes: the number's text, such as `10.11` |
/// | `string uri` | bytes: UTF-8 |
/// | `uuid` | 16 bytes |
/// | `binary transformable` | the bytes |
/// | … with external storage allowed | the column's bytes: 0x01 and the value, or 0x02, a file's name and a NUL |
/// | an element of a composite | as an attribute of its type, in the element's own slot; the composite's slot is null |
/// | a to-one relationship | an integer, the destination's key |
/// | ``Property/entityNumberSlot`` | an integer: the ``Entity/number`` of the destination's own entity in the *model* |
///
/// Slots of transient attributes, to-many relationships and fetched properties are null.
package enum SlotForm: UInt8, Sendable {
  case none, integer, boolean, double, date, decimal, string, uri, uuid, data, externalData

  /// Inlined into other modules, which compare forms for each value that is read: they would call the compiler's own
  /// operator through a witness table, which takes as long as the rest of a read.
  @inlinable @inline(__always)
  package static func == (left: Self, right: Self) -> Bool {
    unsafeBitCast(left, to: UInt8.self) == unsafeBitCast(right, to: UInt8.self)
  }

  /// Whether values are bytes after the row's slots, and not in the slot itself.
  @inlinable package var hasBytes: Bool {
    switch self {
    case .none, .integer, .boolean, .double, .date: false
    case .decimal, .string, .uri, .uuid, .data, .externalData: true
    }
  }

  /// Whether the row of an unsaved object may contain values of the form: stores take them from there unchanged.
  @inlinable package var isDraftable: Bool {
    switch self {
    case .integer, .boolean, .double, .date, .string, .uri, .uuid, .data: true
    case .none, .decimal, .externalData: false
    }
  }

  package init(_ attribute: AttributeDescription) {
    self =
      switch attribute.type {
      case .int16, .int32, .int64: .integer
      case .boolean: .boolean
      case .double, .float: .double
      case .date: .date
      case .decimal: .decimal
      case .string: .string
      case .uri: .uri
      case .uuid: .uuid
      case .binary, .transformable: attribute.storesMarkedBytes ? .externalData : .data
      case .composite, .objectID, .undefined: .none
      }
  }
}
