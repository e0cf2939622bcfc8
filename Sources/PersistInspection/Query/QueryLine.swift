package import Persist

/// A request on one line: `Item where price < 5 sort by name desc limit 20`.
///
/// The predicate is in the format of `FetchPredicate`. Words in quotation marks never start a clause, so that a
/// predicate can contain them; `limit` and `offset` start one only if followed by a number at the end of the line.
package struct QueryLine {
  package let entity: String
  package let predicate: FetchPredicate?
  package let sortDescriptors: [FetchSortDescriptor]
  package let limit: Int
  package let offset: Int

  private static let fix =
    "The form is \"ENTITY [where PREDICATE] [sort by KEY [desc], …] [limit N] [offset N]\", such as \"Item where "
    + "price < 5 sort by name limit 20\"."

  /// - Throws: `PersistenceError.Code.invalidRequest` if the line doesn't have this form, and the errors of the
  ///   predicate's format.
  package init(_ text: String) throws {
    let line = Array(text)
    let masked = Self.masking(line)
    guard let match = Self.parts(of: masked) else {
      throw PersistenceError(.invalidRequest, Self.problem(of: masked, text), fix: Self.fix)
    }
    func original(_ part: Substring) -> String {
      let start = masked.distance(from: masked.startIndex, to: part.startIndex)
      return String(line[start..<start + part.count])
    }
    entity = original(match.entity)
    predicate = try match.predicate.map { try FetchPredicate(original($0)) }
    sortDescriptors = try match.order.map { try Self.order(original($0)) } ?? []
    (limit, offset) = try Self.bounds(match.bounds)
  }

  /// The reason why a line isn't valid.
  private static func problem(of masked: String, _ text: String) -> String {
    let words = masked.split(maxSplits: 2, whereSeparator: \.isWhitespace)
    guard words.count > 1, !["where", "sort", "limit", "offset"].contains(words[1].lowercased()) else {
      return "\(ValueWords.text(text)) isn't a valid request."
    }
    let own = words.map { word in
      let start = masked.distance(from: masked.startIndex, to: word.startIndex)
      return String(Array(text)[start..<start + word.count])
    }
    return "'\(own[1])' isn't expected after '\(own[0])'."
  }

  /// The position of the predicate in a line, in characters from 0; nil if the line has none or isn't valid.
  package static func predicateStart(in text: String) -> Int? {
    let masked = masking(Array(text))
    guard let predicate = parts(of: masked)?.predicate else { return nil }
    return masked.distance(from: masked.startIndex, to: predicate.startIndex)
  }

  private static func parts(
    of masked: String
  ) -> (entity: Substring, predicate: Substring?, order: Substring?, bounds: Substring)? {
    let form = #/
      \s* (?<entity> [^\s]+ )
      (?: \s+ where \s+ (?<predicate> .+?) )?
      (?: \s+ sort \s+ by \s+ (?<order> .+?) )?
      (?<bounds> (?: \s+ (?: limit | offset ) \s+ [0-9]+ )* ) \s*
      /#.ignoresCase().dotMatchesNewlines()
    guard let match = masked.wholeMatch(of: form) else { return nil }
    return (match.entity, match.predicate, match.order, match.bounds)
  }

  /// Returns the line with each character within quotation marks replaced.
  private static func masking(_ line: [Character]) -> String {
    var quote: Character?
    var isEscaped = false
    return String(
      line.map { character in
        guard let open = quote else {
          if character == "'" || character == "\"" { quote = character }
          return character
        }
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == open {
          quote = nil
        }
        return "x"
      })
  }

  private static func order(_ text: String) throws -> [FetchSortDescriptor] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      let words = part.split(whereSeparator: \.isWhitespace)
      switch (words.count, words.last?.lowercased()) {
      case (1, _), (2, "asc"), (2, "ascending"): return FetchSortDescriptor(String(words[0]))
      case (2, "desc"), (2, "descending"): return FetchSortDescriptor(String(words[0]), isAscending: false)
      default: throw PersistenceError(.invalidRequest, "\(ValueWords.text(part)) isn't a valid sort key.", fix: fix)
      }
    }
  }

  private static func bounds(_ text: Substring) throws -> (limit: Int, offset: Int) {
    let words = text.split(whereSeparator: \.isWhitespace)
    var values: [String: Int] = [:]
    for (name, number) in zip(words, words.dropFirst()) where name.first?.isNumber == false {
      guard let number = Int(number), values.updateValue(number, forKey: name.lowercased()) == nil else {
        throw PersistenceError(.invalidRequest, "'\(name) \(number)' is repeated or out of range.", fix: fix)
      }
    }
    guard values["limit"] != 0 else {
      throw PersistenceError(
        .invalidRequest, "A limit of 0 returns no objects.", fix: "Omit it to return every object.")
    }
    return (values["limit"] ?? 0, values["offset"] ?? 0)
  }

  package func request<Result>(_ type: Result.Type) -> FetchRequest<Result> {
    var request = FetchRequest<Result>(entity)
    request.predicate = predicate
    request.sortDescriptors = sortDescriptors
    request.fetchLimit = limit
    request.fetchOffset = offset
    return request
  }
}
