import Foundation
import Notes

/// What the server has acknowledged, and what it may have done without an answer.
actor Ledger {
  /// The titles that a note may have: the acknowledged one, and those that were sent without an answer afterwards.
  private var titles: [UUID: Set<String>] = [:]

  var count: Int { titles.count }
  var acknowledged: [UUID] { Array(titles.keys) }

  func send(_ title: String, for id: UUID) { titles[id]?.insert(title) }
  func acknowledge(_ title: String, for id: UUID) { titles[id] = [title] }

  /// The notes that a server hasn't, or has without what was acknowledged.
  func missing(from client: Client) async throws -> [UUID] {
    var missing: [UUID] = []
    for (id, titles) in titles {
      let answer = try await client.send("GET", "notes/\(id.uuidString)")
      let title = answer.status == 200 ? try JSONDecoder().decode(Title.self, from: answer.body).title : nil
      if title.map(titles.contains) != true { missing.append(id) }
    }
    return missing
  }

  private struct Title: Decodable { let title: String }
}

/// Clients that create notes and change them, each one request after the other.
struct Load {
  /// How the requests ended.
  struct Outcomes {
    /// By HTTP status; 0 for those without an answer.
    var counts: [Int: Int] = [:]
    var longest = Duration.zero

    mutating func count(_ status: Int, _ duration: Duration) {
      counts[status, default: 0] += 1
      longest = max(longest, duration)
    }
  }

  let client: Client
  let ledger: Ledger

  /// Goes on until the task is cancelled; requests that were sent are awaited.
  @discardableResult
  func run(writers: Int) async -> Outcomes {
    await withTaskGroup(of: Outcomes.self) { group in
      for _ in 0..<writers { group.addTask { await write() } }
      return await group.reduce(into: Outcomes()) { all, some in
        all.counts.merge(some.counts, uniquingKeysWith: +)
        all.longest = max(all.longest, some.longest)
      }
    }
  }

  private func write() async -> Outcomes {
    var outcomes = Outcomes()
    while !Task.isCancelled {
      let id = UUID()
      let path = "notes/\(id.uuidString)"
      guard let created = await put(path, "new \(id)", ["If-None-Match": "*"], &outcomes) else {
        // As a client does that gets no answer.
        try? await Task.sleep(for: .milliseconds(100))
        continue
      }
      guard created.status == 201 else { continue }
      await ledger.acknowledge("new \(id)", for: id)
      await ledger.send("changed \(id)", for: id)
      let changed = await put(path, "changed \(id)", ["If-Match": created.tag ?? ""], &outcomes)
      if changed?.status == 200 { await ledger.acknowledge("changed \(id)", for: id) }
    }
    return outcomes
  }

  private func put(
    _ path: String, _ title: String, _ headers: [String: String], _ outcomes: inout Outcomes
  ) async -> Client.Answer? {
    let start = ContinuousClock.now
    // Not cancelled with the load: whether the server did it is to be known.
    let answer = await Task.detached {
      try? await client.send("PUT", path, headers: headers, body: NoteContent(title: title, text: "a text"))
    }.value
    outcomes.count(answer?.status ?? 0, ContinuousClock.now - start)
    return answer
  }
}
