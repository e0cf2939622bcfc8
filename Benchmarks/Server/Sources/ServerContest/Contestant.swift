/// A library over which the server runs.
enum Contestant: String, CaseIterable, Codable {
  case persist, grdb

  var name: String { self == .persist ? "Persist" : "GRDB" }
}
