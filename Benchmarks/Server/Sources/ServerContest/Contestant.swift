/// What the server runs over.
enum Contestant: String, CaseIterable, Codable {
  /// The libraries, and a catalogue in the server's memory, which is the limit for both.
  case persist, grdb, memory

  var name: String {
    switch self {
    case .persist: "Persist"
    case .grdb: "GRDB"
    case .memory: "memory"
    }
  }
}
