/// A `Codable` type whose parts are stored in columns of their own, under the name of the property.
///
/// ```swift
/// struct Address: CompositeValue {
///   var street = ""
///   var city = ""
///   var floor: Int?
/// }
///
/// final class Shop: ManagedObject {
///   @Composite var address = Address()
/// }
/// ```
///
/// A predicate reaches the parts: `"address.city == 'Rome'"`. Parts are ``StorableValue``s or composites again. Their
/// names and types are found by decoding the type once.
public protocol CompositeValue: StorableValue, Codable {
  /// A value whose parts are what parts of a new one are.
  init()
}
