import Foundation

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Format strings from public code, over a list of tasks, each with its results.
enum TaskFormats {
  /// A format string, its arguments and the keys of the matching tasks, in order.
  struct Sample: Sendable {
    let format: String
    let arguments: @Sendable (Tasks) -> [(any FetchArgument)?]
    let found: String

    init(_ format: String, _ arguments: @escaping @Sendable (Tasks) -> [(any FetchArgument)?], _ found: String) {
      self.format = format
      self.arguments = arguments
      self.found = found
    }

    init(_ format: String, _ found: String) { self.init(format, { _ in [] }, found) }
  }

  static let all = texts + literals + dates + lists + relationships + subqueries + objects + functions + logic

  static let texts = [
    Sample("%K CONTAINS[cd] %@", { _ in ["name", "cafe"] }, "bc"),
    Sample("name CONTAINS [cd] %@", { _ in ["CAFÉ"] }, "bc"),
    Sample("name BEGINSWITH[c] %@", { _ in ["c"] }, "bcd"), Sample("name beginswith[cd]%@", { _ in ["RESUME"] }, "e"),
    Sample("name ENDSWITH[c] '.pdf'", "e"), Sample("name like[cd] '*r?m*'", "b"),
    Sample("name LIKE '*\\'*'", "d"), Sample("notes LIKE 'a\\\\*b\\\\?c'", "d"), Sample("notes LIKE 'a*c'", "d"),
    Sample("name MATCHES[c] '.*\\\\bo\\'n.*'", "d"), Sample("name MATCHES '.*[.](pdf|PDF)'", "e"),
    Sample("notes MATCHES 'line\\\\d\\\\nline\\\\d'", "e"), Sample("notes == 'it\\'s \"quoted\"'", "b"),
    Sample("notes == \"it's \\\"quoted\\\"\"", "b"), Sample("name == 'Caf\\u00e9 cr\\u00e8me'", "b"),
    Sample("notes CONTAINS '%'", "f"), Sample("notes CONTAINS '50% off'", "f"), Sample("notes ENDSWITH '% off'", "f"),
    Sample("notes CONTAINS '\\n'", "e"), Sample("name != nil AND name.length > 12", "a"),
    Sample("notes.length == 0", "c"),
    Sample("notes == nil OR notes == \"\"", "ac"), Sample("notes = NULL || notes.length = 0", "ac"),
    Sample("name ==[cd] 'café'", "c"), Sample("name =[c] 'cafe'", "c"), Sample("name !=[cd] 'CAFE'", "abdef"),
    Sample("%@ CONTAINS[c] name", { _ in ["the cafe."] }, "c"), Sample("%@ == name", { _ in ["CAFE"] }, "c"),
    Sample("'tea' IN name", "a"), Sample("name CONTAINS 'tea' AND NOT name CONTAINS 'coffee'", "a"),
    Sample("NOT (name CONTAINS[cd] 'a')", "ef"), Sample("NOT(name BEGINSWITH 'C')", "aef"),
    Sample("name IN[c] {'cafe', 'call o\\'neill'}", "cd"), Sample("name.lowercaseString == 'cafe'", "c"),
    Sample("name >= 'C' AND name < 'D'", "bcd"),
    Sample("name BEGINSWITH %@ AND name ENDSWITH %@", { _ in ["B", "a"] }, "a"),
    Sample("(name contains[c] %@) OR (notes contains[c] %@)", { _ in ["LINE", "LINE"] }, "e"),
    Sample("name CONTAINS ''", "abcde"),
    Sample("assignee.email MATCHES[c] %@", { _ in ["[A-Z0-9._%+-]+@[A-Z0-9.-]+\\.[A-Z]{2,}"] }, "abe"),
    Sample("assignee.lastName ==[cd] 'agren'", "d"), Sample("name LIKE[c] %@", { _ in ["*TEA"] }, "a"),
  ]

  static let literals = [
    Sample("priority == 2", "bc"), Sample("priority = 0x02", "bc"), Sample("priority IN {0b101, 0o3}", "df"),
    Sample("effort < .75", "aef"), Sample("effort == -.1e1", "e"), Sample("effort >= 1.2e1", "d"),
    Sample("effort > 15e-1", "cd"),
    Sample("effort=-1", "e"), Sample("effort<-.5", "e"), Sample("priority=>3", "df"), Sample("priority=<1", "ae"),
    Sample("priority<>2", "adef"), Sample("done == YES", "be"), Sample("done == true", "be"), Sample("done = 1", "be"),
    Sample("done != TRUE", "acdf"), Sample("done == %@", { _ in [false] }, "acdf"),
    Sample("done == %d", { _ in [true] }, "be"),
    Sample("done == NO && priority > 1", "cdf"), Sample("priority == '2'", "bc"), Sample("cost == 10.11", "a"),
    Sample("cost == %@", { _ in [Decimal(string: "10.11")] }, "a"), Sample("cost > 3", "ad"), Sample("cost < 0.2", "e"),
    Sample("cost == nil", "cf"), Sample("priority == %ld", { _ in [5] }, "d"),
    Sample("priority > %i", { _ in [2] }, "df"),
    Sample("priority == %lu OR priority == %hhd", { _ in [3, Int8(5)] }, "df"),
    Sample("effort > %f", { _ in [2.5] }, "cd"),
    Sample("effort > %.2f AND effort < %lf", { _ in [1.0, 10] }, "bc"), Sample("%d < priority", { _ in [2] }, "df"),
    Sample("%2$K == %1$@", { _ in [2, "priority"] }, "bc"), Sample("project.code == 0x1f", "cd"),
    Sample("project.code == 7", "ab"),
    Sample("uid == %@", { $0.uid }, "a"), Sample("uid == %@", { [$0.uidText] }, "a"), Sample("uid != nil", "a"),
    Sample("link == %@", { _ in [URL(string: "https://example.com/a")] }, "a"),
    Sample("link == 'https://example.com/a'", "a"),
    Sample("link.absoluteString CONTAINS 'example'", "a"), Sample("first == 1 AND size == 2", "a"),
    Sample("#order == 6", "f"),
    Sample("#in == YES", "b"), Sample("self.first == 1", "a"), Sample("TRUEPREDICATE", "abcdef"),
    Sample("falsepredicate", ""),
    Sample("1 = 1", "abcdef"), Sample("1 == 2 OR priority == 5", "d"), Sample("YES == done", "be"),
  ]

  static let dates = [
    Sample("due >= %@ AND due <= %@", { [$0.date(0), $0.date(30)] }, "abe"), Sample("due > %@", { [$0.date(22)] }, "d"),
    Sample("(due >= %@) AND (due < %@)", { [$0.date(0), $0.date(1)] }, "ae"),
    Sample("due BETWEEN %@", { [[$0.date(1), $0.date(60)]] }, "bd"),
    Sample("due BETWEEN {%@, %@}", { [$0.date(1), $0.date(60)] }, "bd"), Sample("due == %@", { [$0.date(0)] }, "ae"),
    Sample("due == %@", { _ in [nil] }, "cf"), Sample("due = nil OR due > %@", { [$0.date(22)] }, "cdf"),
    Sample("%@ >= due", { [$0.date(0)] }, "ae"),
    Sample("due < CAST(%f, 'NSDate')", { [$0.date(1).timeIntervalSinceReferenceDate] }, "ae"),
    Sample("due.timeIntervalSinceReferenceDate > %lf", { [$0.date(30).timeIntervalSinceReferenceDate] }, "d"),
    Sample("CAST(due, 'NSNumber') > %f", { [$0.date(30).timeIntervalSinceReferenceDate] }, "d"),
    Sample("due > created", "abde"), Sample("due - created > 86400 * 5", "bd"), Sample("created <= now()", "abcdef"),
    Sample("due < NOW() || due == NULL", "abcdef"), Sample("due IN %@", { [[$0.date(0), $0.date(54)]] }, "ade"),
    Sample("NOT (due BETWEEN {%@, %@})", { [$0.date(0), $0.date(30)] }, "cdf"),
    Sample("created > CAST(CAST(now(), 'NSNumber') - 86400, 'NSDate')", ""),
  ]

  static let lists = [
    Sample("name IN %@", { _ in [["CAFE", "none"]] }, "c"), Sample("NOT name IN %@", { _ in [["CAFE"]] }, "abdef"),
    Sample("NOT (name IN %@)", { _ in [Set(["CAFE"])] }, "abdef"), Sample("name in {}", ""),
    Sample("NOT priority IN {0,1,2}", "df"),
    Sample("priority IN %@", { _ in [[3, 5]] }, "df"), Sample("priority IN (3, 5)", "df"),
    Sample("%K IN %@", { _ in ["priority", [0]] }, "e"),
    Sample("priority BETWEEN {2, 3}", "bcf"), Sample("priority between { 2 , 3 }", "bcf"),
    Sample("priority BETWEEN %@", { _ in [2...3] }, "bcf"),
    Sample("NOT (priority BETWEEN %@)", { _ in [[2, 5]] }, "ae"), Sample("effort BETWEEN {-1, 0.5}", "aef"),
    Sample("{1, 2, 3} CONTAINS priority", "abcf"), Sample("2 IN {1, 2}", "abcdef"),
    Sample("priority IN {2, 3} AND name IN {'CAFE'}", "c"),
    Sample("project.title IN %@", { _ in [["Home"]] }, "ab"), Sample("name IN {nil, 'CAFE'}", "cf"),
  ]

  static let relationships = [
    Sample("ANY tags.name IN %@", { _ in [["red", "green"]] }, "ade"),
    Sample("ANY tags.name == %@", { _ in ["blue"] }, "cd"),
    Sample("ANY tags.name BEGINSWITH[c] 'B'", "cd"), Sample("SOME tags.rank > 2", "cd"),
    Sample("ALL tags.rank < 3", "abef"),
    Sample("tags.@count > 0 AND ALL tags.rank < 3", "ae"), Sample("NONE tags.name = 'red'", "bcef"),
    Sample("NONE tags.name IN {'red', 'blue'}", "bef"),
    Sample("NOT ANY tags.name == 'red'", "bcef"), Sample("NOT (ANY tags.name == 'red')", "bcef"),
    Sample("!(ANY tags.name == 'red')", "bcef"),
    Sample("ANY(tags.name) == 'red'", "ad"), Sample("'red' IN tags.name", "ad"),
    Sample("%@ IN tags.name", { _ in ["red"] }, "ad"),
    Sample("tags.name CONTAINS 'red'", "ad"), Sample("tags.name CONTAINS %@", { _ in ["green"] }, "ae"),
    Sample("ANY tags.name CONTAINS[cd] %@ AND done == NO", { _ in ["RE"] }, "ad"), Sample("tags.@count == 2", "ad"),
    Sample("(name == nil) OR (tags.@count == 0)", "bf"), Sample("tags.@count = 0 AND subtasks.@count = 0", "bf"),
    Sample("project == nil", "ef"), Sample("project != nil AND project.archived == NO", "ab"),
    Sample("project.archived == YES", "cd"),
    Sample("project.owner.firstName == 'Ann'", "ab"), Sample("ANY project.tasks.done == YES", "ab"),
    Sample("project.tasks.@count == 2", "abcd"),
    Sample("ANY subtasks.tags.name == 'green'", "a"), Sample("ANY project.tasks.tags.rank == 3", "cd"),
    Sample("parent.parent != nil", "f"),
    Sample("ANY subtasks.subtasks.priority == 3", "a"), Sample("tags.@max.rank == 3", "cd"),
    Sample("tags.@min.rank < 2", "ad"),
    Sample("tags.@sum.rank > 3", "d"), Sample("tags.@avg.rank > 2.5", "c"), Sample("subtasks.@sum.effort > 10", "a"),
    Sample("subtasks.@avg.priority > 2", "ad"), Sample("project.tasks.@max.priority == priority", "bd"),
    Sample("%K.@count > %d", { _ in ["tags", 1] }, "ad"),
    Sample("ANY %K.%K == %@", { _ in ["tags", "name", "red"] }, "ad"),
    Sample("ANY %K == %@", { _ in ["tags.name", "red"] }, "ad"),
    Sample("ANY tags.name LIKE[c] 'GRE*' OR assignee.nick == 'bobby'", "abe"),
    Sample("assignee.age BETWEEN {18, 64}", "ae"),
    Sample("assignee.nick == nil", "acef"), Sample("assignee.nick != nil AND assignee.nick != ''", "b"),
    Sample("tags != nil", "acde"),
    Sample("ANY tags.rank >= 2 AND ANY tags.rank <= 1", "ad"),
  ]

  static let subqueries = [
    Sample("SUBQUERY(tags, $tag, $tag.name == 'red').@count > 0", "ad"),
    Sample("SUBQUERY(tags, $t, $t.rank > 1 AND $t.name CONTAINS 'e').@count == 1", "acde"),
    Sample("SUBQUERY(tags, $t, $t.name IN %@).@count = %d", { _ in [["red", "blue"], 2] }, "d"),
    Sample("SUBQUERY(tags, $x, $x.name == %@).@count == 0", { _ in ["red"] }, "bcef"),
    Sample("subquery(subtasks, $s, $s.done == NO).@count >= 1", "ad"),
    Sample("SUBQUERY(subtasks, $s, ANY $s.tags.name == 'blue').@count == 1", "a"),
    Sample("SUBQUERY(project.tasks, $t, $t.priority > priority).@count > 0", "ac"),
    Sample("SUBQUERY(project.tasks, $t, $t != SELF AND $t.done == YES).@count > 0", "a"),
    Sample("SUBQUERY(subtasks, $s, SUBQUERY($s.tags, $t, $t.rank == 3).@count > 0).@count > 0", "a"),
    Sample("SUBQUERY(tags, $t, $t.rank > 0).@count == tags.@count", "abcdef"),
    Sample("SUBQUERY(subtasks, $s, $s.parent == SELF).@count == 2", "a"),
    Sample("SUBQUERY(tags, $t, $t.name BEGINSWITH[cd] 'g' || $t.rank == 3)[SIZE] > 0", "acde"),
    Sample("0 < SUBQUERY(tags, $t, NOT $t.name IN {'red'}).@count", "acde"),
    Sample("ANY SUBQUERY(tags, $t, $t.rank > 1).name == 'blue'", "cd"),
  ]

  static let objects = [
    Sample("ALL %@ IN tags", { [[$0.red]] }, "ad"), Sample("ANY %@ IN tags.name", { _ in [["red", "blue"]] }, "acd"),
    Sample("ALL %@ IN tags.name", { _ in [["red", "blue"]] }, "d"),
    Sample("NONE %@ IN tags.name", { _ in [["red", "blue"]] }, "bef"),
    Sample("SELF.entity.name BEGINSWITH 'U'", "d"), Sample("entity IN {'Urgent', 'Tag'}", "d"),
    Sample("NOT entity.name LIKE 'T*'", "d"),
    Sample("SUBQUERY(subtasks, $s, $s.entity == 'Urgent').@count > 0", "a"),
    Sample("parent.entity.name == 'Urgent'", "f"),
    Sample("project == %@", { [$0.home] }, "ab"), Sample("project = %@ AND done = NO", { [$0.home] }, "a"),
    Sample("project != %@", { [$0.home] }, "cdef"),
    Sample("SELF == %@", { [$0["c"]] }, "c"), Sample("self == %@", { [$0["c"]] }, "c"),
    Sample("SELF IN %@", { [[$0["a"], $0["e"]]] }, "ae"),
    Sample("NOT (SELF IN %@)", { [[$0["a"], $0["e"]]] }, "bcdf"),
    Sample("NOT SELF IN %@", { [Set([$0["a"]])] }, "bcdef"),
    Sample("objectID == %@", { [$0["c"].objectID] }, "c"), Sample("self.objectID == %@", { [$0["c"].objectID] }, "c"),
    Sample("objectID IN %@", { [[$0["c"].objectID, $0["d"].objectID]] }, "cd"),
    Sample("SELF != %@", { [$0["a"]] }, "bcdef"),
    Sample("%@ IN tags", { [$0.red] }, "ad"), Sample("ANY tags == %@", { [$0.red] }, "ad"),
    Sample("tags CONTAINS %@", { [$0.red] }, "ad"),
    Sample("ANY tags IN %@", { [[$0.red]] }, "ad"), Sample("NONE tags == %@", { [$0.red] }, "bcef"),
    Sample("ANY %K == %@", { ["tags", $0.red] }, "ad"),
    Sample("SUBQUERY(tags, $t, $t IN %@).@count == %d", { [[$0.red], 1] }, "ad"),
    Sample("SUBQUERY(tags, $t, $t == %@).@count > 0", { [$0.red] }, "ad"),
    Sample("parent == %@ OR parent.parent == %@", { [$0["a"], $0["a"]] }, "def"),
    Sample("project == %@", { _ in [nil] }, "ef"),
    Sample("project IN %@", { [[$0.home]] }, "ab"), Sample("project.objectID == %@", { [$0.home.objectID] }, "ab"),
    Sample("entity == %@", { [$0["d"].entity] }, "d"), Sample("entity.name == %@", { _ in ["Urgent"] }, "d"),
    Sample("entity.name != 'Urgent'", "abcef"),
    Sample("ANY tags.tasks == SELF", "acde"), Sample("parent.tags CONTAINS %@", { [$0.red] }, "def"),
    Sample("assignee.tasks CONTAINS SELF", "abde"),
  ]

  static let functions = [
    Sample("(flags & 1) == 1", "ad"), Sample("flags & %d != 0", { _ in [4] }, "cd"), Sample("flags & 5 == 5", "d"),
    Sample("bitwiseAnd:with:(flags, 1) > 0", "ad"),
    Sample("(flags | 1) == 5", "cd"), Sample("flags << 1 == 16", "f"), Sample("modulus:by:(priority, 2) == 1", "adf"),
    Sample("priority %% 2 == 1", "adf"),
    Sample("priority * 2 + 1 > 6", "df"), Sample("effort / 2 >= 1.5", "cd"), Sample("(priority + flags) / 2 == 1", "a"),
    Sample("-priority < -2", "df"),
    Sample("abs:(effort) == 1", "e"), Sample("max:(priority, flags) == 5", "d"), Sample("sqrt:(priority) > 2", "d"),
    Sample("floor:(effort) == 1", "b"),
    Sample("length:(name) == 4", "c"), Sample("lowercase:(name) == 'cafe'", "c"),
    Sample("uppercase(name) CONTAINS 'TEA'", "a"), Sample("canonical:(name) BEGINSWITH 'resume'", "e"),
    Sample("FUNCTION(name, 'length') == 4", "c"), Sample("FUNCTION(name, 'lowercaseString') == 'cafe'", "c"),
    Sample("TERNARY(done == YES, priority, 9) < 3", "be"),
    Sample("TERNARY(name == nil, 'none', name) BEGINSWITH 'n'", "f"), Sample("add:to:(priority, 1) == 6", "d"),
    Sample("count:(tags) == 2", "ad"),
    Sample("CAST(priority, 'NSString') == '5'", "d"), Sample("priority.stringValue == '5'", "d"),
    Sample("noindex:(name) == 'CAFE'", "c"),
    Sample("FUNCTION(SELF, 'name') == 'CAFE'", "c"), Sample("tags.@count + subtasks.@count >= 3", "ad"),
    Sample("sum:({1, 2}) == 3", "abcdef"),
  ]

  static let logic = [
    Sample("done == NO AND (priority == 1 OR priority == 5)", "ad"),
    Sample("done == NO and priority == 1 or priority == 0", "ae"),
    Sample("NOT done == YES AND priority > 2", "df"), Sample("!(done == YES) && !(priority > 2)", "ac"),
    Sample("done==NO&&priority==1||priority==0", "ae"),
    Sample("(done==NO)AND(priority>2)", "df"), Sample("((((priority)))) == (((5)))", "d"),
    Sample("  priority\t==\n5  ", "d"), Sample("NOT NOT priority == 5", "d"),
    Sample("(TRUEPREDICATE) AND priority == 5", "d"), Sample("priority == 5 OR FALSEPREDICATE", "d"),
    Sample("(done == NO AND due == nil) OR (done == YES AND project == nil)", "cef"),
    Sample("NOT (done == YES OR name == nil OR project == nil)", "acd"),
    Sample("priority > 0 AND priority < 5 AND done == NO AND name != nil", "ac"),
  ]
}
