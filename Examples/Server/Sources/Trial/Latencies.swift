/// How long a route's answers took, one after the other.
struct Latencies: CustomStringConvertible {
  private let sorted: [Duration]

  init(of path: String, from client: Client, for time: Duration) async throws {
    let client = client.separate()
    let end = ContinuousClock.now + time
    var all: [Duration] = []
    while ContinuousClock.now < end {
      let start = ContinuousClock.now
      let answer = try await client.send("GET", path)
      guard answer.status == 200 else { throw Complaint(text: "GET \(path) answered \(answer.status).") }
      all.append(ContinuousClock.now - start)
      try await Task.sleep(for: .milliseconds(5))
    }
    sorted = all.sorted()
  }

  var median: Duration { sorted.isEmpty ? .zero : sorted[sorted.count / 2] }

  var description: String {
    guard let last = sorted.last else { return "no answer" }
    return "median \(median.text), 99 % below \(sorted[sorted.count * 99 / 100].text), longest \(last.text) of "
      + "\(sorted.count) requests"
  }
}

extension Duration {
  fileprivate var text: String { "\(Int((self / .milliseconds(1)).rounded(.up))) ms" }
}
