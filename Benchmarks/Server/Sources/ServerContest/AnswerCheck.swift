import Foundation

/// A check that both servers answer the same requests with the same bytes, reads and writes alike.
enum AnswerCheck {
  /// - Throws: ``ContestError`` with the first request that is answered differently.
  /// - Returns: the number of requests.
  static func run(on servers: [ServerProcess]) async throws -> Int {
    var count = 0
    for (method, path, body, status) in requests {
      var first: Data?
      for server in servers {
        let answer = try await server.send(method, path, body: body)
        guard answer.status == status else {
          throw ContestError("\(server.contestant.name): \(method) /\(path) was answered by \(answer.status).")
        }
        if let first, first != answer.body {
          throw ContestError(
            """
            \(method) /\(path) has different answers:
            \(String(decoding: first, as: UTF8.self))
            \(String(decoding: answer.body, as: UTF8.self))
            """)
        }
        first = answer.body
      }
      count += 1
    }
    return count
  }

  private static var requests: [(method: String, path: String, body: String?, status: Int)] {
    var requests: [(String, String, String?, Int)] = []
    for number in stride(from: 0, to: 20_000, by: 397) {
      let id = "items/00000000-0000-4000-8000-" + String(format: "%012X", number)
      requests += [
        ("GET", "items?after=Item-" + String(format: "%06d", number), nil, 200),
        ("GET", id, nil, 200),
        ("PUT", id, #"{"quantity":\#(number % 7)}"#, 200),
        ("POST", id + "/notes", #"{"written":1900000000,"author":"É","text":"New \#(number)"}"#, 201),
        ("GET", id, nil, 200),
        ("GET", "items?limit=3&after=Item-" + String(format: "%06d", max(0, number - 2)), nil, 200),
      ]
    }
    let missing = "items/00000000-0000-4000-8000-FFFFFFFFFFFF"
    requests += [
      ("GET", "items?after=Item-019995", nil, 200), ("GET", "items?after=J", nil, 200),
      ("GET", missing, nil, 404), ("PUT", missing, #"{"quantity":1}"#, 404),
    ]
    return requests
  }
}
