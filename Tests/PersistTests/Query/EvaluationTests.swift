import Foundation
import Testing

@testable import Persist
@testable import PersistModel

/// Results of predicates for objects in memory, including the entries of Core Data's observed behavior.
@Suite("Predicates in memory")
struct EvaluationTests {
  private func holds(_ format: String, _ record: Record, _ arguments: (any FetchArgument)?...) throws -> Bool {
    try FetchPredicate(format, arguments: arguments).evaluate(with: record)
  }

  private func value(_ format: String, _ record: Record = Record()) throws -> StoredValue? {
    try FetchExpression(format).value(for: record).stored
  }

  /// The names of the records that match a predicate.
  private func names(_ format: String, in records: [String: Record], _ arguments: (any FetchArgument)?...) throws
    -> Set<String>
  {
    let predicate = try FetchPredicate(format, arguments: arguments)
    return try Set(records.filter { try predicate.evaluate(with: $0.value) }.keys)
  }

  @Test("Texts begin, end, contain and match as the operators specify (PRE-07, PRE-23)")
  func texts() throws {
    let records = Dictionary(
      uniqueKeysWithValues: ["prefix-match", "match-suffix", "Café con Leche"].map {
        ($0, Record(["name": .value(.string($0))]))
      })
    #expect(try names("name BEGINSWITH 'prefix'", in: records) == ["prefix-match"])
    #expect(try names("name ENDSWITH 'suffix'", in: records) == ["match-suffix"])
    #expect(try names("name CONTAINS[c] 'café'", in: records) == ["Café con Leche"])
    #expect(try names("name CONTAINS[cd] 'CAFE'", in: records) == ["Café con Leche"])
    #expect(try names("name LIKE 'prefix-*'", in: records) == ["prefix-match"])
    #expect(try names("name MATCHES '.*-suffix'", in: records) == ["match-suffix"])
    #expect(try names("name CONTAINS 'CAFE'", in: records) == [])
    #expect(try names("name CONTAINS[c] 'cafe'", in: records) == [])
    #expect(try names("name ==[cd] 'CAFE CON LECHE'", in: records) == ["Café con Leche"])
  }

  @Test("BETWEEN includes its bounds, IN searches lists (PRE-08)")
  func lists() throws {
    let records = Dictionary(
      uniqueKeysWithValues: [1, 3, 5, 9].map { ("\($0)", Record(["counter": .value(.integer($0))])) })
    #expect(try names("counter BETWEEN {2, 5}", in: records) == ["3", "5"])
    #expect(try names("counter BETWEEN {3, 5}", in: records) == ["3", "5"])
    #expect(try names("counter IN %@", in: records, [1, 9]) == ["1", "9"])
    #expect(try names("NOT (counter IN %@)", in: records, [1, 9]) == ["3", "5"])
    #expect(try names("counter NOT IN {1.0, 9.0}", in: records) == ["3", "5"])
    #expect(try names("{1, 2, 3} CONTAINS counter", in: records) == ["1", "3"])
    #expect(try names("counter IN {}", in: records) == [])
  }

  @Test("ANY needs a member, ALL is true without any")
  func quantifiers() throws {
    func parent(_ names: String...) -> Record {
      Record(["children": .collection(names.map { .object(Record(["name": .value(.string($0))])) })])
    }
    let parents = ["mixed": parent("ready", "pending"), "all": parent("ready", "ready"), "empty": parent()]
    #expect(try names("ANY children.name == 'ready'", in: parents) == ["mixed", "all"])
    #expect(try names("SOME children.name == 'ready'", in: parents) == ["mixed", "all"])
    #expect(try names("ALL children.name == 'ready'", in: parents) == ["all", "empty"])
    #expect(try names("NONE children.name == 'ready'", in: parents) == ["empty"])
    #expect(try names("NOT ANY children.name == 'pending'", in: parents) == ["all", "empty"])
    #expect(try names("children.@count > 0", in: parents) == ["mixed", "all"])
    #expect(try names("children == nil", in: parents) == ["empty"])
    #expect(try names("SUBQUERY(children, $c, $c.name == 'ready').@count == 2", in: parents) == ["all"])
    #expect(try names("SUBQUERY(children, $c, $c.name == 'ready')[SIZE] == 1", in: parents) == ["mixed"])
    #expect(try names("children[FIRST].name == 'ready'", in: parents) == ["mixed", "all"])
    #expect(try names("children[1].name == 'pending'", in: parents) == ["mixed"])
    #expect(try names("children.@distinctUnionOfObjects.name == {'ready'}", in: parents) == ["all"])
  }

  @Test("Objects are compared by identity")
  func objects() throws {
    let tag = Record(["label": "Swift"])
    let other = Record(["label": "ObjC"])
    let items = ["alpha": Record(["tag": .object(tag), "tags": [.object(tag)]]), "orphan": Record(["tag": nil,
    "tags": []])]
    #expect(try names("tag == %@", in: items, tag.fetchIdentity) == ["alpha"])
    #expect(try names("tag != %@", in: items, tag.fetchIdentity) == ["orphan"])
    #expect(try names("tag == nil", in: items) == ["orphan"])
    #expect(try names("tag != NULL", in: items) == ["alpha"])
    #expect(try names("tag IN %@", in: items, [tag.fetchIdentity, other.fetchIdentity]) == ["alpha"])
    #expect(try names("tags CONTAINS %@", in: items, tag.fetchIdentity) == ["alpha"])
    #expect(try names("%@ IN tags", in: items, tag.fetchIdentity) == ["alpha"])
    #expect(try names("ANY tags == %@", in: items, other.fetchIdentity) == [])
    #expect(try names("tag.label == 'Swift'", in: items) == ["alpha"])
    #expect(try names("tag.label == nil", in: items) == ["orphan"])
    #expect(try holds("SELF == %@", tag, tag.fetchIdentity))
    #expect(try holds("self.objectID IN %@", tag, [tag.fetchIdentity]))
    #expect(try holds("entity == 'Record' AND label == 'Swift'", tag))
  }

  @Test("Null equals null, differs from all values, and has no order")
  func noValue() throws {
    let record = Record(["gone": nil, "one": 1, "name": nil, "list": []])
    for format in [
      "gone == nil", "gone != 1", "1 != gone", "gone == gone", "NOT gone == 1", "NOT gone < 1", "NOT gone >= 1",
      "NOT gone <= nil", "NOT gone BETWEEN {0, 2}", "NOT one BETWEEN {0, gone}", "NOT name CONTAINS 'a'",
      "NOT name LIKE '*'", "NOT name MATCHES '.*'", "NOT name BEGINSWITH ''", "NOT 'a' CONTAINS name", "gone IN {nil}",
      "NOT gone IN {1}", "gone + 1 == nil", "abs:(gone) == nil", "length:(name) == nil", "gone.anything.else == nil",
      "gone.@count == 0", "list.@sum.x == 0", "list.@avg.x == nil", "list.@max.x == nil", "one / 0 == nil",
      "NOT ANY gone == nil", "ALL gone == 5", "gone[0] == nil",
      "TERNARY(gone == nil, 1, 2) == 1", "NOT ANY list == nil", "5 NOT IN gone",
    ] { #expect(try holds(format, record), "\(format)") }
  }

  @Test("Numbers are compared by value, whatever their width")
  func numbers() throws {
    let record = Record([
      "price": .value(.decimal(Decimal(string: "10.11") ?? 0)), "whole": .value(.decimal(7)),
      "big": 9_007_199_254_740_993,
      "max": .value(.integer(.max)), "double": 0.1, "yes": true,
      "date": .value(.date(Date(timeIntervalSinceReferenceDate: 60))),
      "text": "12", "single": .value(.double(Double(Float(0.1)))),
    ])
    for format in [
      "price == 10.11", "price > 10.1", "price == CAST('10.11', 'NSDecimalNumber')", "whole == 7", "whole == 7.0",
      "big != 9007199254740992.0", "big > 9007199254740992.0", "max < 9223372036854775808.0",
      "max < 9223372036854775808",
      "max == 9223372036854775807", "double == 0.1", "single != 0.1", "yes == 1", "yes == YES", "yes == true",
      "yes > 0",
      "date > 59.5", "date == 60", "text == 12", "12.0 == text", "text != 13", "text < 100", "'9' > text", "1 == 1.0",
      "max + 1 == 9223372036854775808.0", "price + 0.89 == 11", "price * 2 == 20.22",
    ] { #expect(try holds(format, record), "\(format)") }
  }

  @Test("Arithmetic keeps whole numbers whole (PRE-16, PRE-17)")
  func arithmetic() throws {
    let people = ["30": Record(["age": 30]), "17": Record(["age": 17])]
    #expect(try names("age * 2 >= 40", in: people) == ["30"])
    #expect(try names("age + 1 >= 21", in: people) == ["30"])
    let seven = Record(["age": 7, "flags": 6])
    for format in [
      "age / 2 == 3", "NOT age / 2 == 3.5", "age / 2.0 == 3.5", "age %% 4 == 3", "-age == -7", "age ** 2 == 49",
      "1 + 2 > 2",
      "(flags & 2) > 0", "(flags & 1) == 0", "(flags | 1) == 7", "(flags ^ 2) == 4", "~flags == -7", "1 << 3 == 8",
      "flags >> 1 == 3", "2 ** -1 == 0.5", "2 ** 63 == 9223372036854775808.0", "-7 / 2 == -3", "1 << 64 == 0",
      "1 << -1 == 0",
    ] { #expect(try holds(format, seven), "\(format)") }
    #expect(try value("4 + 5 - 2**3") == .integer(1))
    #expect(try value("max:({1, 2, 3, 4, 4, 5, 9, 11})") == .integer(11))
  }

  @Test("Functions are evaluated")
  func functions() throws {
    let record = Record(["name": "Héllo Wörld", "blob": .value(.data(Data([1, 2, 3]))), "items": [1, 2, 2, nil]])
    let expected: [String: StoredValue] = [
      "uppercase:('straße')": .string("STRASSE"), "lowercase:(name)": .string("héllo wörld"),
      "canonical:(name)": .string("hello world"), "length:(name)": .integer(11), "length:('😀')": .integer(2),
      "length(blob)": .integer(3), "abs:(-5)": .integer(5), "ceiling:(1.2)": .double(2), "floor:(-1.2)": .double(-2),
      "trunc:(-1.7)": .double(-1), "sqrt:(16)": .double(4), "sqrt:(-1)": .null, "exp:(0)": .double(1),
      "log:(100)": .double(2),
      "ln:(1)": .double(0), "sum:(items)": .integer(5), "count:(items)": .integer(4), "average({1, 2})": .double(1.5),
      "median({3, 1, 2})": .integer(2), "median({1, 2, 3, 4})": .double(2.5), "min:(3, 1, 2)": .integer(1),
      "max({'a', 'c', 'b'})": .string("c"), "stddev({2, 4, 4, 4, 5, 5, 7, 9})": .double(2), "items.@count": .integer(4),
      "distinct:(items)[SIZE]": .integer(3), "CAST('12', 'NSNumber')": .integer(12), "CAST('x', 'NSNumber')": .null,
      "CAST(12, 'NSString')": .string("12"), "CAST(now(), 'NSNumber') - CAST(now(), 'NSNumber')": .double(0),
      "FUNCTION(name, 'stringByAppendingString:', '!')": .string("Héllo Wörld!"),
      "FUNCTION(name, 'length')": .integer(11),
      "name.length": .integer(11), "name.uppercaseString": .string("HÉLLO WÖRLD"), "mode({1, 2, 2})[0]": .integer(2),
      "TERNARY(1 == 1, 'yes', 'no')": .string("yes"), "({1, 2} UNION {2, 3})[SIZE]": .integer(3),
      "({1, 2} INTERSECT {2.0, 3})[FIRST]": .integer(2), "({1, 2} MINUS {2})[LAST]": .integer(1),
      "CAST(CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID'), 'NSString')":
        .string("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
    ]
    for (format, result) in expected { #expect(try value(format, record) == result, "\(format)") }
  }

  @Test("Options make exactly the specified texts equal")
  func options() throws {
    let holding = [
      "'TEA' ==[c] 'tea'", "NOT 'TEA' == 'tea'", "'é' !=  'e'", "'é' ==[d] 'e'", "'É' ==[cd] 'e'", "NOT 'É' ==[d] 'e'",
      "'e\\u0301' ==[c] '\\u00e9'", "'e\\u0301' != '\\u00e9'", "'ΣΑΣ' ==[c] 'σας'", "'Straße' ==[c] 'STRASSE'",
      "'TEA' !=[n] 'tea'", "'TEA' !=[cn] 'tea'", "'b' >[c] 'A'", "'a' > 'B'", "'Z' < 'a'", "'10' < '9'", "'' == ''",
      "NOT 'é' CONTAINS[c] 'e'", "'é' CONTAINS[cd] 'E'", "'x' CONTAINS ''", "'abc' IN 'xabcx'", "'ABC' IN[c] 'xabcx'",
      "'A' IN[c] {'a'}", "'ab' BETWEEN {'aa', 'ac'}", "'TEA' ==[l] 'TEA'", "'TEA' ==[cl] 'tea'",
      "'tea time' CONTAINS[cl] 'TIME'", "'tea' BEGINSWITH[cl] 'TE'", "'tea' ENDSWITH[cl] 'EA'", "'a' <[l] 'b'",
      "CAST('https://a/', 'NSURL') BEGINSWITH 'https'", "123 CONTAINS '2'", "'İ' ==[cd] 'i'",
      "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F' == CAST('e621e1f8-c36c-495a-93fc-0c247a3e6e5f', 'NSUUID')",
    ]
    for format in holding { #expect(try holds(format, Record()), "\(format)") }
  }

  @Test("LIKE matches the whole text with * and ? (PRE-23)")
  func wildcards() throws {
    let holding = [
      "'a-2026-001.pdf' LIKE '*-2026-00?.pdf'", "NOT 'a-2026-01.pdf' LIKE '*-2026-00?.pdf'", "'' LIKE '*'",
      "'' LIKE ''",
      "NOT 'a' LIKE ''", "NOT '' LIKE '?'", "'abc' LIKE 'a*c'", "'ac' LIKE 'a*c'", "NOT 'abd' LIKE 'a*c'",
      "'a*c' LIKE 'a\\\\*c'",
      "NOT 'abc' LIKE 'a\\\\*c'", "'ABC' LIKE[c] 'a?c'", "'Café' LIKE[cd] 'caf?'", "'😀!' LIKE '?!'", "'a.c' LIKE 'a.c'",
      "NOT 'abc' LIKE 'a.c'", "'aXbXc' LIKE '*X*X*'", "NOT 'aXb' LIKE '*X*X*'", "'abab' LIKE '*ab'",
      "'a\nb' LIKE 'a*b'",
      "'a%_b' LIKE 'a%_b'", "NOT 'axxb' LIKE 'a%_b'", "'[x]' LIKE '[x]'",
    ]
    for format in holding { #expect(try holds(format, Record()), "\(format)") }
    let long = String(repeating: "a", count: 3000)
    #expect(try !holds("%@ LIKE %@", Record(), long, String(repeating: "*a", count: 300) + "*b"))
  }

  @Test("A pattern may end in a comment or in a quotation", arguments: [
    ("(?x) [a-z]+ # letters", "abc", "ab1"), ("(?x) [a-z]+ # not )", "abc", "abcx1"), ("[a-z]+\\Q(.", "abc(.", "abc(."),
    ("a#", "a#", "a#\n"),
  ])
  func openEnds(_ pattern: String, _ text: String, _ other: String) throws {
    #expect(try holds("%@ MATCHES %@", Record(), text, pattern))
    if other != text { #expect(try !holds("%@ MATCHES %@", Record(), other, pattern)) }
  }

  @Test("MATCHES matches a regular expression against the whole text (PRE-19)")
  func regularExpressions() throws {
    let holding = [
      "'xAlice' MATCHES '.*Al[a-z]+.*'", "'Awesome Event' MATCHES[c] '\\w+ event'", "'Event 1' MATCHES[c] 'event \\d'",
      "NOT 'xabc' MATCHES 'abc'", "NOT 'abcx' MATCHES 'abc'", "'ab' MATCHES 'a|ab'", "'é' MATCHES[d] 'e'",
      "'é' MATCHES[dn] 'é'", "NOT 'é' MATCHES[dn] 'e'",
      "'' MATCHES ''",
      "NOT 'a\\n' MATCHES 'a'", "'a@b.de' MATCHES '[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,4}'",
      "5 MATCHES '[0-9]'",
    ]
    for format in holding { #expect(try holds(format, Record()), "\(format)") }
    for pattern in ["(", "a)|(b", "[", "*"] {
      let error = try #require(throws: PersistenceError.self) { try holds("'a' MATCHES %@", Record(), pattern) }
      #expect(error.code == .invalidPredicate)
    }
  }

  @Test("A regular expression that would take years is interrupted")
  func slowExpression() throws {
    let text = String(repeating: "a", count: 60)
    let error = try #require(throws: PersistenceError.self) { try holds("%@ MATCHES '(a+)+b'", Record(), text) }
    #expect(error.code == .limitExceeded)
  }

  @Test("Keys lead through objects, over collections and into composites")
  func paths() throws {
    func author(_ titles: String...) -> FetchValue {
      .object(Record(["books": .collection(titles.map { .object(Record(["title": .value(.string($0)),
      "price": 2])) })]))
    }
    let record = Record([
      "authors": [author("Emma", "Persuasion"), author("Emma"), author()],
      "location": .value(.composite(["x": .double(1.5), "inner": .composite(["y": .integer(2)])])),
    ])
    for format in [
      "ANY authors.books.title == 'Persuasion'", "authors.books.@count == 3", "authors.@sum.books.@count == 3",
      "authors.books.@sum.price == 6", "authors.@distinctUnionOfSets.books.@count == 3 OR TRUEPREDICATE",
      "authors.books.@distinctUnionOfObjects.title == {'Persuasion', 'Emma'}", "location.x == 1.5",
      "location.inner.y == 2",
      "location.missing == nil", "location['x'] == 1.5",
      "SUBQUERY(authors, $a, $a.books.@count > 1).books.title == {'Emma', 'Persuasion'}",
      "SUBQUERY(authors, $a, SUBQUERY($a.books, $b, $b.title == 'Emma').@count > 0).@count == 2",
      "SUBQUERY(authors, $a, $a.books.@count < location.x).@count == 2",
    ] { #expect(try holds(format, record), "\(format)") }
    let error = try #require(throws: PersistenceError.self) { try holds("author.name == 1", record) }
    #expect(error.code == .unknownProperty)
  }

  @Test("Rules over a value can read SELF and its own properties")
  func rules() throws {
    #expect(try FetchPredicate("length >= 2").evaluate(with: .string("Al")))
    #expect(try !FetchPredicate("length >= 2").evaluate(with: .string("A")))
    #expect(try FetchPredicate("SELF >= 0").evaluate(with: .integer(0)))
    #expect(try !FetchPredicate("SELF >= 0").evaluate(with: .integer(-1)))
    #expect(try FetchPredicate("SELF MATCHES '[a-z]+'").evaluate(with: .string("abc")))
    #expect(try FetchPredicate("SELF < now()").evaluate(with: .date(.distantPast)))
  }

  @Test("A predicate that can't be evaluated is an error with the reason")
  func refusals() throws {
    let record = Record(["name": "x", "list": [1]])
    let wrong: [String: PersistenceError.Code] = [
      "missing == 1": .unknownProperty, "name.foo == 1": .unknownProperty, "$x == 1": .invalidPredicate,
      "name + 1 == 2": .typeMismatch, "abs:(name) == 1": .typeMismatch, "1 IN now()": .typeMismatch,
      "uppercase:(1) == 'x'": .typeMismatch, "sum:({'a'}) == 1": .typeMismatch, "name BETWEEN list": .invalidPredicate,
      "FETCH($x, $x, NO) == 1": .invalidPredicate, "FUNCTION(name, 'foo:', 1) == 1": .invalidPredicate,
      "name[0] == 'x'": .typeMismatch, "CAST(list, 'NSNumber') == 1": .typeMismatch,
    ]
    for (format, code) in wrong {
      let error = try #require(throws: PersistenceError.self, "\(format)") { try holds(format, record) }
      #expect([code, .invalidPredicate].contains(error.code), "\(format): \(error)")
    }
  }

  @Test("Every sample has a result or an error, and NOT has the opposite result", arguments: FormatSamples.all)
  func samples(_ format: String) throws {
    let predicate = try FetchPredicate(format)
    let inner = Record(["name": "a", "price": 2, "tags": [], "x": 1, "b": 1, "c": 1])
    let record = Record([
      "name": "Tea", "a": 1, "b": 2, "c": 3, "quantity": 5, "price": 1.5, "tags": [.object(inner)],
      "items": [.object(inner)],
      "owner": .object(inner), "flags": 5, "x": 1.5, "age": 30, "counter": 3, "title": nil, "date": .value(.date(.now)),
    ])
    let evaluator = ExpressionEvaluator(variables: ["tag": .object(inner), "age": 3, "x": 1, "value": 5])
    guard let answer = try? evaluator.matches(predicate, .object(record)) else { return }
    if !format.lowercased().contains("random") {
      #expect(try evaluator.matches(.not(predicate), .object(record)) == !answer)
    }
  }
}
