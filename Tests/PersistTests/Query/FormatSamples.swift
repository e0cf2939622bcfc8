/// Format strings as applications write them, grouped by subject. They have no placeholders, so that they are complete.
enum FormatSamples {
  static let all = comparisons + texts + lists + relationships + dates + arithmetic + functions + logic + layout

  static let comparisons = [
    "TRUEPREDICATE", "FALSEPREDICATE", "truepredicate", "available = true", "available == YES", "isHidden == NO",
    "isHidden == false", "isDeleted = 0", "isRead != 1", "quantity > 0", "quantity >= 10", "quantity < 10",
    "quantity <= 10", "quantity => 10", "quantity =< 10", "quantity <> 10", "quantity != 10", "price == 1.5",
    "price == .5", "price < 1e3", "price < 1.5E-3", "mask == 0xFF", "mask == 0b1010", "mask == 0o17", "offset == -5",
    "offset > -1.25", "offset == +5", "big == 9223372036854775807", "big == -9223372036854775808",
    "big == 18446744073709551615", "title == nil", "title == NULL", "title != nil", "title = Null", "nil == title",
    "10 < quantity", "name == alias", "SELF == 5", "self != nil", "SELF >= 0", "length > 2", "size > 10",
    "first == last", "description != nil", "uuid != nil AND uuid != ''", "remoteID == 0", "syncStatus != 2",
    "#in == 5", "#order > 1", "#any.#all == 3", "self.name == 'a'", "SELF.owner.name == 'a'", "a.b.c.d.e == 1",
    "_internal == 1", "name2 == 'a'", "größe > 3", "名前 == '太郎'", "$value == 5", "age > $age",
    "objectID == $id", "identifier == \"abc\"", "#\"odd key\" == 3", "owner.#\"odd.key\" == 3", "YES == YES",
    "1 == 1",
    "1 = 0", "SELF.self == 1", "$FETCH_SOURCE.alias == authorAlias", "a == b AND b == c AND c == a",
    "latitude > 51.5 AND latitude < 51.6 AND longitude > -0.2 AND longitude < 0.1",
  ]

  static let texts = [
    "name == 'Tea'", "name == \"Tea\"", "name ==[c] 'tea'", "name == [cd] 'tea'", "name =[c] 'tea'",
    "name !=[cd] 'x'",
    "name CONTAINS 'a'", "name contains 'a'", "name Contains[cd] 'a'", "name CONTAINS [cd] 'a'",
    "name CONTAINS[dc] 'a'",
    "name BEGINSWITH 'A'", "name beginswith[c] 'a'", "name ENDSWITH '.pdf'", "name endswith[cd] '.PDF'",
    "name LIKE 'a*'", "name like[c] '*tea*'", "name LIKE '?at'", "name LIKE '*-2026-00?.pdf'", "name LIKE 'a\\\\*b'",
    "name MATCHES '.*tea.*'", "name MATCHES[c] '\\w+ event'", "name MATCHES '[0-9]{3}-[0-9]{4}'",
    "name[FIRST] == 'a'",
    "SELF MATCHES '^[A-Z0-9._%+-]+@[A-Z0-9.-]+\\.[A-Z]{2,4}$'", "name CONTAINS[n] 'x'", "name ==[l] 'x'",
    "name <[cl] 'x'", "name CONTAINS[cdl] 'x'", "name == ''", "name == \"it's\"", "name == 'say \"hi\"'",
    "name == 'it\\'s'", "name == \"a\\\"b\"", "name == 'tab\\tline\\n'", "name == '\\u00e9'",
    "name == '\\uD83D\\uDE00'",
    "name == '😀'", "name == '%@'", "name CONTAINS '50%'", "name == '$x'", "name == '(a AND b)'", "name > 'm'",
    "numberPlate >= \"202\" && numberPlate <= \"204\"", "title.length > 5", "title.lowercaseString == 'x'",
    "lastName BEGINSWITH[cd] 'mc' OR firstName BEGINSWITH[cd] 'mc'", "'abc' CONTAINS name",
    "name == NULL OR name == ''",
    "path BEGINSWITH '/usr/'", "url CONTAINS 'https://example.com/?a=1&b=2'", "name == '\\\\'", "name == '\\\\\\\\'",
  ]

  static let lists = [
    "counter BETWEEN {2, 5}", "counter between {2,5}", "price BETWEEN { 0.5 , 1.5 }", "counter IN {1, 9}",
    "name IN {'a', 'b', 'c'}", "name IN[c] {'A'}", "NOT (counter IN {1, 9})", "NOT counter IN {1, 9}",
    "counter NOT IN {1, 9}", "name in {}", "SELF IN {1,2,3}", "'a' IN keywords", "tag IN $tags", "name IN ('a', 'b')",
    "status IN {0, 1} AND NOT type IN {3}", "{1, 2, 3} CONTAINS counter", "3 IN {1, 2, 3}", "{1, {2, 3}} == a",
    "keywords[0] == 'a'", "keywords[FIRST] == 'a'", "keywords[LAST] == 'a'", "keywords[SIZE] == 3",
    "keywords[size] > 2",
    "keywords[index] == 'a'", "keywords[i + 1] == 'a'", "rows[0][1] == 5", "items[0].name == 'a'", "a[0].b[1].c == 2",
    "#first[#last] == 1", "$list[0] == 1", "name NOT CONTAINS 'x'", "x BETWEEN $range", "x BETWEEN bounds",
  ]

  static let relationships = [
    "owner == nil", "owner != nil", "owner.name == 'Ada'", "owner.address.city ==[c] 'paris'", "tags.@count == 0",
    "tags.@count > 0", "items.@sum.price > 100", "items.@avg.price < 10", "items.@min.price == 1",
    "items.@max.createdAt < $date", "ANY tags.name == 'red'", "any tags.name contains[cd] 'r'",
    "SOME tags.name == 'r'",
    "ALL tags.name != 'red'", "all items.price > 5", "NONE tags.name == 'red'", "none items.price > 5",
    "NOT (ANY tags.name == 'red')", "NOT ANY tags.name == 'red'", "ANY tags == $tag", "ANY tags IN $tags",
    "ANY tags.name IN {'a', 'b'}", "tags CONTAINS $tag", "$tag IN tags", "SELF IN $objects", "NOT SELF IN $objects",
    "ANY children.children.name == 'x'", "ANY items.price BETWEEN {1, 5}", "ANY tags.name == nil",
    "ANY tags.name MATCHES '.*'", "ALL events.name == \"Other\"", "items.@distinctUnionOfObjects.name == names",
    "items.@unionOfObjects.name.@count == 3", "items.@distinctUnionOfSets.tags.@count > 1", "self.items.@count < 3",
    "SUBQUERY(cars, $car, $car.maker == \"FIAT\").@count > 2", "SUBQUERY(items, $i, $i.price > 5)[SIZE] > 1",
    "SUBQUERY(tags, $t, $t.name IN {'a', 'b'}).@count == 2", "subquery(tags, $t, $t == $tag).@count = 0",
    "SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y.c == $x.d).@count > 0).@count > 0",
    "SUBQUERY(a, $x, $x.b == c).@sum.d > 3",
    "SUBQUERY(chats.messages, $m, $m.isRead == NO AND $m.sender != nil).@count > 0",
    "0 != SUBQUERY(participants, $p, $p.isLocal == NO AND ANY $p.aliases.name CONTAINS[cd] 'x').@count",
    "entity.name == 'Car'", "entity == $entity", "@count > 1", "(owner).name == 'x'", "(a + b).c == 1",
    "department.manager.reports.@count >= 5", "@max.price > 3",
  ]

  static let dates = [
    "date > $start AND date < $end", "date >= now()", "date < NOW()", "date == CAST(631152000.0, \"NSDate\")",
    "date > CAST(631152000, 'NSDate')", "date > CAST(CAST(now(), 'NSNumber') - 3600, 'NSDate')",
    "CAST(date, 'NSNumber') > 5", "date BETWEEN {CAST(0, 'NSDate'), CAST(1000.5, 'NSDate')}",
    "id == CAST(\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\", \"NSUUID\")", "price == CAST('10.11', 'NSDecimalNumber')",
    "blob == CAST('aGVsbG8=', 'NSData')", "link == CAST('https://example.com/', 'NSURL')",
    "SELF == CAST('x-coredata://A1/Item/p7', 'NSManagedObjectID')", "CAST(name, 'NSString') == 'x'",
    "date == \"2026-01-01\"", "limit == CAST('infinity', 'NSNumber')",
    "a == CAST({'x', 1, 'y', 2.5}, 'NSDictionary')",
    "CAST(name, 'NSDecimalNumber') > 3", "dueDate != nil AND dueDate <= $today AND completedDate == nil",
  ]

  static let arithmetic = [
    "age * 2 >= 40", "age + 1 >= 21", "age / 2 == 3", "a - b - c == 0", "a - (b - c) == 0", "a + b * c == 7",
    "(a + b) * c == 9", "2 ** 3 ** 2 == 512", "(2 ** 3) ** 2 == 64", "-a == 5", "-(a + b) == 5", "-a ** 2 == -9",
    "(-2) ** 2 == 4", "-2 ** 2 == -4", "a ** -1 == 1", "2*-3 == -6", "a--1 == 2", "a %% 2 == 0", "(key & 1) > 0",
    "flags & 4 == 4", "flags & 4 != 0", "flags | 1 == 3", "flags ^ 3 == 0", "~flags == -1", "~~flags == 1",
    "--a == 1",
    "1 << 3 == 8", "a >> 1 == 2", "a | b & c ^ d == 1", "(a | b) & c == 1", "1 + 2 > 2", "x+y>z", "a*b/c == d",
    "a/b*c == d", "a/(b*c) == d", "width * height > 1000", "(price - cost) / price > 0.2", "-(5) == a", "~5 == a",
    "-(5[0]) == a", "-(5.b) == a", "-(5[0]) ** 2 == a",
    "((a)) == ((1))", "a UNION b == c", "a INTERSECT b == c", "a MINUS b == c", "a union b minus c == d",
  ]

  static let functions = [
    "abs:(x) > 5", "abs(x) > 5", "ABS(x) > 5", "length:(name) > 3", "length(name) > 3", "lowercase:(name) == 'tea'",
    "uppercase(name) == 'TEA'", "canonical:(name) == 'cafe'", "ceiling:(x) == 2", "floor:(x) == 1", "trunc:(x) == 1",
    "sqrt:(16) == 4", "log:(100) == 2", "ln:(x) > 1", "exp:(0) == 1", "random() < 2", "random:(5) < 5",
    "randomn:(5) < 5", "objectFrom:withIndex:({1, 2}, 0) == 1",
    "max:({1, 2, 3}) == 3", "max({1, 2, 3}) == 3", "max:(items.price) > 3", "min:(a, b) == 1", "sum:({1, 2}) == 3",
    "sum(items.price) > 3", "average({1, 2}) == 1.5", "median({1, 2, 3}) == 2", "mode({1, 1, 2})[0] == 1",
    "stddev({1, 1}) == 0", "count:(tags) > 2", "count(tags) > 2", "distinct:(tags) == tags", "add:to:(a, b) == 3",
    "from:subtract:(a, b) == 1", "multiply:by:(a, b) == 6", "divide:by:(a, b) == 2", "modulus:by:(a, b) == 1",
    "raise:toPower:(a, 2) == 9", "bitwiseAnd:with:(flags, 1) == 1", "bitwiseOr:with:(flags, 1) == 1",
    "bitwiseXor:with:(flags, 1) == 1", "leftshift:by:(a, 1) == 2", "rightshift:by:(a, 1) == 2",
    "onesComplement:(a) == 1",
    "noindex:(name) == 'x'", "castObject:toType:(a, 'NSNumber') == 3", "FUNCTION(name, 'length') > 3",
    "FUNCTION(name, \"stringByAppendingString:\", 'x') == 'ax'", "FUNCTION($manager, 'a:b:', $source.c, 'd') == nil",
    "TERNARY(age > 18, 'adult', 'minor') == 'adult'", "ternary(a == 1 AND b == 2, c, d) > 0",
    "FETCH($request, $context, NO) == nil", "FETCH(FUNCTION($manager, 'f:p:', 'Page', 'TRUEPREDICATE'), "
      + "$manager.sourceContext, YES) == 3", "max:(TERNARY(a > b, a, b), c) == 5",
  ]

  static let logic = [
    "a == 1 AND b == 2", "a == 1 and b == 2", "a == 1 && b == 2", "a == 1 OR b == 2", "a == 1 || b == 2",
    "NOT a == 1", "not a == 1", "!(a == 1)", "! a == 1", "NOT (a == 1 AND b == 2)", "NOT NOT a == 1", "!!(a == 1)",
    "a == 1 OR b == 2 AND c == 3", "(a == 1 OR b == 2) AND c == 3", "a == 1 AND (b == 2 OR c == 3)",
    "a == 1 AND b == 2 AND c == 3 AND d == 4 AND (e == 5 OR f == 6)", "(a == 1 AND b == 2) AND c == 3",
    "a == 1 OR (b == 2 OR c == 3)", "(a == 1)", "((a == 1))", "TRUEPREDICATE AND a == 1", "NOT FALSEPREDICATE",
    "(a == 1 OR b == 2) AND (c == 3 OR d == 4) AND NOT (e == 5 OR f == 6)", "NOT a == 1 AND NOT b == 2",
    "NOT (NOT a == 1)", "a == 1 AND NOT b CONTAINS 'x' OR c == 3",
    "(isFolder == YES AND name != nil) OR (isFolder == NO AND parent.isArchived == NO AND deletedAt == nil)",
    "(type == 1 AND (status == 2 OR status == 3)) OR (type == 2 AND NOT (ANY tags.name == 'x'))",
  ]

  static let layout = [
    "counter==1 AND(name=='a')", "counter==1||counter==2", "counter==1&&counter==2", "  a == 1  ",
    "a\n==\n1", "a\t==\t1", "(a==1)AND(b==2)", "(a==1)OR(b==2)", "NOT(a==1)", "a==-1", "a<-1", "a>=-1",
    "a=='x'AND b==1",
    "name=='a'", "ANY(tags.name) == 'x'", "a BETWEEN{1,2}", "a IN{1,2}", "name CONTAINS'x'",
    "SUBQUERY( a , $x , $x.b==1 ).@count>0",
  ]
}
