import Foundation

/// What the route `/metrics` answered, read by the rules of Prometheus' text format.
struct MetricsPage {
  struct Sample {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  let samples: [Sample]

  init(from client: Client) async throws {
    let answer = try await client.send("GET", "metrics")
    guard answer.status == 200 else { throw Complaint(text: "GET /metrics answered \(answer.status).") }
    var samples: [Sample] = []
    for line in String(decoding: answer.body, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("# TYPE ") {
      guard let sample = Sample(line) else { throw Complaint(text: "Prometheus doesn't read the line: \(line)") }
      samples.append(sample)
    }
    self.samples = samples
  }

  /// The sum of the samples with a name and labels.
  func sum(_ name: String, _ labels: [String: String] = [:]) -> Double {
    samples.filter { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }.reduce(0) { $0 + $1.value }
  }

  /// The first histogram whose buckets don't grow, or don't end with its count; nil if there is none.
  func invalidHistogram() -> String? {
    for total in samples where total.name.hasSuffix("_count") {
      let name = String(total.name.dropLast("_count".count))
      let buckets = samples.filter { sample in
        sample.name == name + "_bucket" && total.labels.allSatisfy { sample.labels[$0.key] == $0.value }
          && sample.labels.count == total.labels.count + 1
      }
      // A gauge may be called a count, too.
      if buckets.isEmpty { continue }
      let isAscending = zip(buckets, buckets.dropFirst()).allSatisfy { $0.value <= $1.value }
      guard isAscending, buckets.last?.labels["le"] == "+Inf", buckets.last?.value == total.value else { return name }
    }
    return nil
  }
}

extension MetricsPage.Sample {
  /// Reads a line such as `hb_requests_total{http_route="/notes"} 7.0`.
  init?(_ line: Substring) {
    let form = /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? ([0-9.e+-]+)/
    let label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/
    guard let match = line.wholeMatch(of: form), let value = Double(match.4) else { return nil }
    var (rest, labels) = (match.3 ?? "", [String: String]())
    while !rest.isEmpty {
      guard let next = rest.prefixMatch(of: label) else { return nil }
      labels[String(next.1)] = String(next.2)
      rest = rest[next.range.upperBound...]
    }
    self.init(name: String(match.1), labels: labels, value: value)
  }
}
