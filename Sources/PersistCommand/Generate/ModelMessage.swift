import Foundation
import Persist
import PersistTools

/// A message about a model file, with its location, in the format that Xcode and Swift's build parse.
struct ModelMessage: Hashable {
  enum Kind: String { case warning, error }

  let kind: Kind
  let file: URL?
  let line: Int?
  let message: String

  /// `file:line: warning: message`.
  var text: String {
    let place = file.map { "\($0.path):" + (line.map { "\($0):" } ?? "") + " " } ?? ""
    return "\(place)\(kind.rawValue): \(message)"
  }

  init(_ kind: Kind = .warning, file: URL?, line: Int?, _ message: String) {
    self.kind = kind
    self.file = file
    self.line = line
    self.message = message
  }

  /// A message for a model's problem, or one for each of the problems that an error contains.
  static func all(_ kind: Kind, of error: PersistenceError) -> [ModelMessage] {
    guard error.errors.isEmpty else { return error.errors.flatMap { all(kind, of: $0) } }
    let place = error.place
    let lines = place.line == nil ? place.file.map { ModelSourceLines(ofModelAt: $0) } : nil
    let name = [place.entity, place.property].compactMap { $0 }.joined(separator: ".")
    let sentences = [name.isEmpty ? nil : "\(name):", error.message, error.fix].compactMap { $0 }
    return [
      ModelMessage(
        kind, file: lines?.file ?? place.file,
        line: place.line ?? place.entity.flatMap { lines?.line(of: $0, place.property) },
        sentences.joined(separator: " "))
    ]
  }
}

/// A model from which no classes can be generated; each problem is printed as a build message.
struct UnusableModel: Error {
  let error: PersistenceError

  var text: String { ModelMessage.all(.error, of: error).map(\.text).joined(separator: "\n") }
}
