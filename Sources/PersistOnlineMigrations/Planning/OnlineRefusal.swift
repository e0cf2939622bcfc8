/// The reason for which a difference between two models can't be served while programs with both run.
public struct OnlineRefusal: Sendable, Hashable {
  /// The entity concerned.
  public let entity: String?
  /// The attribute, relationship or index concerned; nil if the entity as a whole is.
  public let property: String?
  /// A sentence about the reason.
  public let reason: String

  init(_ entity: String?, _ property: String?, _ reason: String) {
    (self.entity, self.property, self.reason) = (entity, property, reason)
  }

  /// The refusal with its place, in one line.
  var line: String {
    let place = [entity, property].compactMap { $0 }.joined(separator: ".")
    return place.isEmpty ? reason : "\(place): \(reason)"
  }
}
