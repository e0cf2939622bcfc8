public import Persist

/// The reason for which a difference between two models can't be served while programs with both run.
public struct OnlineRefusal: Sendable, Hashable {
  /// The difference; nil for an obstacle that is none, such as a rule that the server enforces.
  public internal(set) var operation: MigrationOperation?
  /// The entity concerned.
  public let entity: String?
  /// The attribute, relationship or index concerned; nil if the entity as a whole is.
  public let property: String?
  /// A sentence about the reason.
  public let reason: String
  /// A sentence about what to do instead.
  public let fix: String

  init(_ entity: String?, _ property: String?, because reason: RefusalReason) {
    (self.entity, self.property, self.reason, self.fix) = (entity, property, reason.text, reason.fix)
  }

  /// The place, the difference and the reason, in one line.
  var line: String {
    let place = [entity, property].compactMap { $0 }.joined(separator: ".")
    let subject = [operation?.kind.rawValue, place.isEmpty ? nil : place].compactMap { $0 }.joined(separator: " ")
    return subject.isEmpty ? reason : "\(subject): \(reason)"
  }
}

/// A reason against serving a difference, and the way around it.
struct RefusalReason {
  let text: String
  let fix: String

  /// The way that is always open.
  static let lastResort = "end all programs and use 'persist migrate'"

  /// - Parameters:
  ///   - text: A sentence about the reason.
  ///   - advice: The recommended alternative, without a period.
  init(_ text: String, _ advice: String) { self.init(text, fix: "\(advice), or \(Self.lastResort).") }

  /// - Parameter fix: A sentence about all that can be done.
  init(_ text: String, fix: String) { (self.text, self.fix) = (text, fix) }
}
