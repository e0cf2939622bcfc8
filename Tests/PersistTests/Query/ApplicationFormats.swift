import Foundation

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Format strings typical of applications, over the models of real stores.
enum ApplicationFormats {
  /// Some format strings over an entity of a store.
  struct Group: Sendable {
    let store: String
    let entity: String
    let formats: [String]
    var arguments: [(format: String, values: [(any FetchArgument & Sendable)?])] = []
  }

  static let all = [persons, cars, moods, countries, posts, sections, notes, folders, employees]

  private static let date = Date(timeIntervalSinceReferenceDate: 639_503_569.638733)

  static let persons = Group(
    store: "cars/Fixtures/SampleModel_V2.sqlite", entity: "Person",
    formats: [
      "TRUEPREDICATE", "FALSEPREDICATE", "firstName == 'Victoria'", "lastName ==[c] 'coster'",
      "firstName BEGINSWITH 'V'", "firstName BEGINSWITH[cd] 'é'", "lastName ENDSWITH[c] 'S'",
      "firstName CONTAINS[cd] 'a' OR lastName CONTAINS[cd] 'a'", "firstName LIKE '?i*'", "firstName LIKE[c] '*A'",
      "firstName MATCHES '[A-M].*'", "lastName MATCHES[c] '.*(son|ton)'", "lastName IN {'Coster', 'Moreton', 'Nobody'}",
      "NOT lastName IN {'Coster', 'Moreton'}", "lastName NOT IN {'Coster'}", "firstName != nil AND lastName != nil",
      "firstName == NULL || lastName = nil", "cars.@count == 0", "cars.@count > 5", "cars.@count BETWEEN {1, 7}",
      "ANY cars.maker == 'FIAT'", "ANY cars.maker LIKE[c] 'f*'", "SOME cars.model CONTAINS 'a'",
      "ALL cars.maker == 'FIAT'", "NONE cars.maker == 'FIAT'", "NOT (ANY cars.maker == 'FIAT')",
      "ANY cars.maker IN {'FIAT', 'Alfa Romeo'}", "SUBQUERY(cars, $c, $c.maker == 'FIAT').@count > 2",
      "SUBQUERY(cars, $c, $c.maker == 'FIAT' AND $c.numberPlate > '150').@count >= 1",
      "SUBQUERY(cars, $c, $c.maker != 'FIAT')[SIZE] == cars.@count",
      "SUBQUERY(cars, $c, SUBQUERY($c.owner.cars, $d, $d.maker == $c.maker).@count > 1).@count > 0",
      "SUBQUERY(cars, $c, $c.owner == SELF).@count == cars.@count", "cars.@count + 1 > 3", "cars.@count * 2 >= 10",
      "updatedAt != nil", "updatedAt < now()", "updatedAt > CAST(639503569.6385, 'NSDate')",
      "updatedAt BETWEEN {CAST(639503569, 'NSDate'), CAST(639503570, 'NSDate')}",
      "CAST(updatedAt, 'NSNumber') > 639503569", "CAST(CAST(updatedAt, 'NSNumber') + 86400, 'NSDate') < now()",
      "firstName.length > 6", "length:(firstName) > 6", "lowercase:(firstName) == 'victoria'",
      "uppercase:(lastName) BEGINSWITH 'C'", "canonical:(lastName) CONTAINS 'e'", "firstName < lastName",
      "firstName >[c] lastName", "firstName == lastName", "'Victoria' == firstName", "'V' IN firstName",
      "firstName >= 'E' && firstName < 'M'", "!(firstName BEGINSWITH 'V')", "NOT NOT firstName BEGINSWITH 'V'",
      "(firstName BEGINSWITH 'V' OR firstName BEGINSWITH 'E') AND cars.@count > 0",
      "TERNARY(cars.@count > 5, 'many', 'few') == 'many'", "cars.@distinctUnionOfObjects.maker.@count > 1",
      "max:(cars.numberPlate) > '190'", "cars.@max.numberPlate >= '190'", "cars.@min.numberPlate < '120'",
      "cars.maker CONTAINS 'FIAT'", "'FIAT' IN cars.maker", "cars != nil", "cars == nil", "self != nil",
      "SELF.cars.@count > 1", "entity == 'Person'", "firstName ==[n] 'Victoria'", "firstName <[l] 'M'",
      "noindex:(lastName) BEGINSWITH 'C'", "FUNCTION(firstName, 'stringByAppendingString:', 'x') == 'Victoriax'",
      "ANY cars.owner.lastName BEGINSWITH 'C'", "firstName == \"Victoria\" OR firstName == 'Edythe'",
      "firstName BEGINSWITH ''", "firstName CONTAINS ''", "1 == 1 AND lastName != ''", "cars.@count %% 2 == 0",
    ],
    arguments: [
      ("firstName == %@ AND lastName == %@", ["Victoria", "Coster"]), ("%K BEGINSWITH[cd] %@", ["lastName", "co"]),
      ("updatedAt >= %@", [date]), ("lastName IN %@", [["Coster", "Gleaves"]]), ("%K == nil", ["updatedAt"]),
      ("ANY %K.maker IN %@", ["cars", ["FIAT"]]), ("cars.@count > %d", [3]),
      ("SUBQUERY(cars, $x, $x.maker = %@).@count > %ld", ["FIAT", 1]),
      ("updatedAt BETWEEN %@", [[date, date.addingTimeInterval(1)]]), ("NOT (firstName IN %@)", [Set(["Victoria"])]),
      ("(%K CONTAINS[cd] %@) OR (%K CONTAINS[cd] %@)", ["firstName", "an", "lastName", "an"]),
      ("firstName LIKE[cd] %@", ["*" + "ri" + "*"]), ("lastName MATCHES %@", ["^[A-F].*"]), ("firstName == %@", [nil]),
    ])

  static let cars = Group(
    store: "cars/Fixtures/SampleModel_V2.sqlite", entity: "Car",
    formats: [
      "maker == 'FIAT'", "maker ==[c] 'fiat' AND model == 'Panda'", "maker = 'FIAT' AND model IN {'Panda', 'Punto'}",
      "owner == nil", "owner != nil", "owner.firstName == 'Victoria'", "owner.lastName BEGINSWITH[cd] 'm'",
      "owner.cars.@count > 5", "ANY owner.cars.maker == 'FIAT'", "numberPlate >= '150' && numberPlate <= '170'",
      "numberPlate BETWEEN {'150', '170'}", "numberPlate ENDSWITH '0'", "numberPlate MATCHES '1[5-7][0-9]'",
      "numberPlate MATCHES '\\\\d{3}'", "markedForDeletionAsOf == NULL", "markedForDeletionAsOf != NULL",
      "markedForDeletionAsOf != nil AND markedForDeletionAsOf < now()", "maker CONTAINS 'A' AND NOT model CONTAINS 'a'",
      "maker != 'FIAT' OR owner == nil", "NOT (maker == 'FIAT' OR maker == 'Alfa Romeo')", "entity == 'SportCar'",
      "entity IN {'SportCar', 'LuxuryCar'}", "owner.firstName < owner.lastName", "maker > model",
      "CAST(numberPlate, 'NSNumber') > 150", "length:(model) == 5", "maker ==[cd] 'fíat'", "model LIKE 'P?n*'",
      "SUBQUERY(owner.cars, $c, $c.model == 'Panda').@count > 1", "NONE owner.cars.maker == 'FIAT'",
      "ALL owner.cars.maker != 'Ferrari'", "SELF IN owner.cars", "owner.cars CONTAINS SELF",
      "TERNARY(owner == nil, 'none', owner.lastName) BEGINSWITH 'C'", "model == 'Panda'",
      "maker BEGINSWITH 'F' AND (model BEGINSWITH 'P' OR model BEGINSWITH 'U') AND owner != nil",
      "(maker == 'FIAT') AND (markedForDeletionAsOf = nil) AND (owner.firstName != nil)", "maker == nil",
      "maker.length > 4", "FUNCTION(maker, 'length') > 4", "owner.updatedAt > CAST(639503569.6385, 'NSDate')",
    ],
    arguments: [
      ("maker == %@", ["FIAT"]), ("%K = %@ && %K = %@", ["maker", "FIAT", "model", "Panda"]),
      ("owner.%K ==[c] %@", ["lastName", "coster"]), ("numberPlate > %@", ["150"]),
      ("%@ CONTAINS maker", ["FIAT, Lancia"]),
      ("maker IN %@ AND %K IN %@", [["FIAT"], "model", ["Panda"]]), ("owner IN %@", [[String]()]),
    ])

  static let moods = Group(
    store: "moody/Moody 5.moody", entity: "Mood",
    formats: [
      "country.moods.@count > 1", "latitude > 40 AND latitude < 60 AND longitude > -10.5 AND longitude < 30",
      "latitude BETWEEN {-90, 0} OR longitude BETWEEN {100, 180}", "rating > 0", "rating == 0", "rating IN {1, 2, 3}",
      "markedForDeletionDate == nil", "markedForRemoteDeletion == NO",
      "markedForRemoteDeletion == false AND remoteID == nil",
      "remoteID != nil AND markedForRemoteDeletion = 0", "NOT (remoteID = nil)", "creatorID == '__defaultOwner__'",
      "creatorID BEGINSWITH[c] '_'", "date < now()", "date > CAST(500000000, 'NSDate')", "latitude != nil",
      "abs:(latitude) > 45", "latitude * latitude + longitude * longitude < 10000.0", "sqrt:(latitude * latitude) > 10",
      "floor:(latitude) == ceiling:(latitude) - 1", "trunc:(longitude) < 0", "-latitude < longitude", "rating & 1 == 1",
      "rating | 2 == 2", "(rating + 1) * 2 == 2", "country.isoContinent == 1", "country == nil",
      "country.numericISO3166Code > 0x10", "country.numberOfMoods >= 1", "ALL country.moods.rating >= 0",
      "rating == country.isoContinent", "max:(latitude, longitude) > 50", "min({latitude, longitude}) < 0",
      "TERNARY(latitude >= 0, 1, 0) == 1", "latitude + 0.5 > 1e1", "country.moods.@avg.latitude > 0",
      "country.moods.@sum.rating == 0", "country.moods.@max.date == date", "colors != nil", "rating ** 2 == 0",
    ],
    arguments: [
      ("(latitude <= %f) AND (latitude >= %f)", [60.0, 40.0]),
      ("date >= %@", [Date(timeIntervalSinceReferenceDate: 0)]),
      ("%K == NULL", ["markedForDeletionDate"]), ("markedForRemoteDeletion == %@", [false]), ("rating == %i", [0]),
      ("remoteID IN %@", [["a", "b"]]),
    ])

  static let countries = Group(
    store: "moody/Moody 5.moody", entity: "Country",
    formats: [
      "moods.@count > 1", "ANY moods.rating > 0", "ALL moods.markedForDeletionDate == nil",
      "SUBQUERY(moods, $m, $m.latitude > 0 AND $m.longitude > 0).@count > 0", "numberOfMoods == moods.@count",
      "isoContinent != 10004", "numericISO3166Code BETWEEN {0, 500}", "moods.@max.latitude > 10",
      "moods.@min.latitude < 10",
      "moods.@avg.longitude > 0", "moods.@sum.latitude != 0", "uniquenessDummy == 0", "updatedAt <= now()",
      "markedForDeletionDate == nil AND numberOfMoods > 0", "SUBQUERY(moods, $m, $m.country == SELF)[SIZE] > 0",
      "count:(moods) == moods.@count", "distinct:(moods) != nil", "ANY moods.creatorID != nil",
    ])

  static let posts = Group(
    store: "posts/CoreDataMigration_Example_3.sqlite", entity: "Post",
    formats: [
      "hexColor == '528B20'", "hexColor BEGINSWITH '5'", "hexColor ==[c] '0c0a91'", "hexColor MATCHES '[0-9A-F]{6}'",
      "postID BEGINSWITH 'A' OR postID ENDSWITH 'F'", "date > CAST(569175110, 'NSDate')", "sections.@count == 1",
      "ANY sections.body CONTAINS[c] 'pleasant'", "ANY sections.index == 0", "ALL sections.index >= 0",
      "ANY sections.title LIKE 'We*'", "sections.@max.index > 0", "NONE sections.title == nil",
      "SUBQUERY(sections, $s, $s.title CONTAINS[cd] 'no' AND $s.index == 0).@count != 0", "sections.title != nil",
      "ANY sections.body.length > 1000", "postID != nil && date != nil && hexColor != nil", "sections.@sum.index > 0",
    ],
    arguments: [("postID == %@", ["A4547690-904D-4143-84A1-4CBC40F275A4"]), ("date < %@", [Date()])])

  static let sections = Group(
    store: "posts/CoreDataMigration_Example_3.sqlite", entity: "Section",
    formats: [
      "post.hexColor == '528B20'", "index == 0", "index > 0 AND post != nil", "title BEGINSWITH[cd] 'gay'",
      "body CONTAINS 'bachelor' AND body CONTAINS[c] 'HIGH'", "title.length == 43", "post.sections.@count > 1",
      "post.date > CAST(569175110, 'NSDate')", "body LIKE '*\\n*'", "body MATCHES '(?s).*sun.*'", "title IN body",
      "body BEGINSWITH title", "body CONTAINS title", "lowercase:(title) CONTAINS 'we'",
      "index == post.sections.@max.index",
    ])

  static let notes = Group(
    store: "notes/NoteStore-macOS-15-Seqoia.sqlite", entity: "ICNote",
    formats: [
      "title CONTAINS[cd] 'note'", "title BEGINSWITH 'This'", "snippet CONTAINS 'folder'", "isPinned == NO",
      "markedForDeletion != YES",
      "markedForDeletion == NO AND (title CONTAINS[cd] 'tag' OR snippet CONTAINS[cd] 'tag')",
      "folder.title == 'Notes'", "folder != nil AND folder.markedForDeletion == NO", "folder.parent == nil",
      "attachments.@count > 0", "ANY attachments.typeUTI == 'com.adobe.pdf'", "modificationDate > creationDate",
      "creationDate < now() AND modificationDate != nil", "isPasswordProtected == 0", "noteData != nil",
      "folder.account.name == 'On My Mac'", "identifier != nil AND identifier.length == 36", "title LIKE '*has*'",
      "SUBQUERY(folder.notes, $n, $n.isPinned == YES).@count == 0", "ANY folder.notes.title CONTAINS 'tags'",
      "title == nil OR title == ''", "NOT (title ENDSWITH 'note')", "folder.identifier ENDSWITH 'LocalAccount'",
    ])

  static let folders = Group(
    store: "notes/NoteStore-macOS-15-Seqoia.sqlite", entity: "ICFolder",
    formats: [
      "parent == nil", "parent.title == 'Folder'", "notes.@count > 0", "title IN {'Notes', 'Folder2'}",
      "identifier BEGINSWITH 'DefaultFolder'", "NOT identifier BEGINSWITH 'TrashFolder'", "folderType == 0",
      "ANY children.title BEGINSWITH 'F'", "children.@count == 0", "ALL notes.isPinned == NO", "title >[c] 'f'",
      "SUBQUERY(children, $c, $c.notes.@count > 0).@count > 0", "account.name BEGINSWITH 'On'", "owner == nil",
      "SUBQUERY(notes, $n, ANY $n.attachments.typeUTI != nil).@count > 0",
    ])

  static let employees = Group(
    store: "employees/Stores/MWKCoreDataTests2.sqlite", entity: "Employee",
    formats: [
      "dept.name == 'HR'", "dept == nil OR dept.name BEGINSWITH[c] 'e'", "name CONTAINS ' '",
      "ANY dept.employees.name == name",
      "dept.employees.@count == 1", "SELF IN dept.employees", "name MATCHES '\\\\w+ \\\\w+'",
      "name.length > dept.name.length",
      "SUBQUERY(dept.employees, $e, $e.name > name).@count == 0", "name ENDSWITH[cd] 'S' && dept.name != nil",
    ])
}
