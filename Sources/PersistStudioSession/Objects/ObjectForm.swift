import Persist

/// The content of a request for an object, or for members of one of its relationships.
struct ObjectForm: Decodable {
  let entity: String
  let key: ObjectKey
  /// The chosen naming attributes by entity.
  var naming: [String: String]?
  /// The relationship, if members are requested.
  var property: String?
  var start: Int?
  var count: Int?
}
