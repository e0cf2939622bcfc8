import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A table of another program with entity numbers, such as CloudKit's.
struct ForeignTable {
  let name: String
  let definitions: [String]
  /// The statement that records an object, with its number, key and label.
  let record: @Sendable (_ number: Int, _ key: Int, _ label: String) -> [String]
  /// The number, key and label of each record.
  let query: String

  static let all: [ForeignTable] = [
    simple("ANSCKRECORDMETADATA", "CONSTRAINT ZENTITYID UNIQUE (ZENTITYID, ZENTITYPK)"),
    simple(
      "ANSCKCHECKED",
      "CHECK (ZENTITYID > 0), CHECK (ZENTITYPK > 0 AND ZENTITYID < 16000), UNIQUE (ZENTITYPK, ZENTITYID)"),
    simple(
      "ANSCKINDEXED", "CHECK (ZLABEL <> '')",
      ["CREATE UNIQUE INDEX BY_PAIR ON ANSCKINDEXED (ZENTITYID DESC, ZENTITYPK)"]),
    simple(
      "ANSCKPARTIAL", "CHECK (1)",
      [
        """
        CREATE UNIQUE INDEX BY_EXPRESSION ON ANSCKPARTIAL ((ZENTITYID * 1000 + ZENTITYPK), ZENTITYPK)
        WHERE ZENTITYPK > 0
        """
      ]),
    ForeignTable(
      name: "ANSCKCOMPOSITE",
      definitions: [
        """
        CREATE TABLE ANSCKCOMPOSITE
        (ZENTITYID INTEGER NOT NULL, ZENTITYPK INTEGER, ZLABEL, PRIMARY KEY (ZENTITYID, ZENTITYPK))
        """
      ], record: { ["INSERT INTO ANSCKCOMPOSITE VALUES (\($0), \($1), '\($2)')"] },
      query: "SELECT ZENTITYID, ZENTITYPK, ZLABEL FROM ANSCKCOMPOSITE"),
    ForeignTable(
      name: "CKSTATE",
      definitions: [
        """
        CREATE TABLE CKSTATE
        (ZENTITYID INT, ZENTITYPK INT, ZLABEL TEXT, PRIMARY KEY (ZENTITYID, ZENTITYPK)) WITHOUT ROWID
        """
      ], record: { ["INSERT INTO CKSTATE VALUES (\($0), \($1), '\($2)')"] },
      query: "SELECT ZENTITYID, ZENTITYPK, ZLABEL FROM CKSTATE"),
    ForeignTable(
      name: "ANSCKGENERATED",
      definitions: [
        """
        CREATE TABLE ANSCKGENERATED
        (Z_PK INTEGER PRIMARY KEY AUTOINCREMENT, ZENTITYID INTEGER, ZENTITYPK INTEGER, ZLABEL,
        ZID TEXT GENERATED ALWAYS AS (ZENTITYID || '/' || ZENTITYPK) STORED UNIQUE, HALF AS (ZENTITYPK / 2.0))
        """
      ], record: { ["INSERT INTO ANSCKGENERATED (ZENTITYID, ZENTITYPK, ZLABEL) VALUES (\($0), \($1), '\($2)')"] },
      query: "SELECT ZENTITYID, ZENTITYPK, ZLABEL FROM ANSCKGENERATED WHERE ZID = ZENTITYID || '/' || ZENTITYPK"),
    ForeignTable(
      name: "CHILDREN",
      definitions: [
        """
        CREATE TABLE ANSCKPARENT
        (Z_PK INTEGER PRIMARY KEY, ZENTITY INTEGER, ZENTITYPK INTEGER, UNIQUE (ZENTITY, ZENTITYPK))
        """,
        """
        CREATE TABLE CHILDREN (LABEL, KIND INTEGER UNIQUE REFERENCES Z_PRIMARYKEY (Z_ENT), E INTEGER, K INTEGER,
        FOREIGN KEY (E, K) REFERENCES ANSCKPARENT (ZENTITY, ZENTITYPK) ON DELETE CASCADE)
        """,
        "CREATE TABLE GRANDCHILDREN (E INTEGER PRIMARY KEY REFERENCES CHILDREN (KIND))",
      ],
      record: { number, key, label in
        [
          "INSERT INTO ANSCKPARENT (ZENTITY, ZENTITYPK) VALUES (\(number), \(key))",
          "INSERT INTO CHILDREN VALUES ('\(label)', \(key == 1 ? "\(number)" : "NULL"), \(number), \(key))",
        ] + (key == 1 ? ["INSERT INTO GRANDCHILDREN VALUES (\(number))"] : [])
      },
      query: """
        SELECT E, K, LABEL FROM CHILDREN
        WHERE IFNULL(KIND, E) = E AND (KIND IS NULL OR KIND IN (SELECT E FROM GRANDCHILDREN))
        """),
    ForeignTable(
      name: "ANSCKTRIGGERED",
      definitions: [
        """
        CREATE TABLE ANSCKTRIGGERED (Z_PK INTEGER PRIMARY KEY, ZENTITYID INTEGER UNIQUE CHECK (ZENTITYID > 0),
        ZENTITYPK INTEGER, ZLABEL)
        """,
        "CREATE TRIGGER NO_UPDATE BEFORE UPDATE ON ANSCKTRIGGERED BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TRIGGER NO_DELETE BEFORE DELETE ON ANSCKTRIGGERED BEGIN SELECT RAISE(ABORT, 'no'); END",
      ],
      record: { number, key, label in
        guard key == 1 else { return [] }
        return ["INSERT INTO ANSCKTRIGGERED (ZENTITYID, ZENTITYPK, ZLABEL) VALUES (\(number), 1, '\(label)')"]
      },
      query: "SELECT ZENTITYID, ZENTITYPK, ZLABEL FROM ANSCKTRIGGERED"),
  ]

  private static func simple(_ name: String, _ constraints: String, _ more: [String] = []) -> ForeignTable {
    ForeignTable(
      name: name,
      definitions: [
        """
        CREATE TABLE \(name) (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZENTITYID INTEGER,
        ZENTITYPK INTEGER, ZLABEL VARCHAR, \(constraints))
        """
      ] + more,
      record: {
        [
          "INSERT INTO \(name) (Z_ENT, Z_OPT, ZENTITYID, ZENTITYPK, ZLABEL) VALUES (16005, 1, \($0), \($1), '\($2)')"
        ]
      }, query: "SELECT ZENTITYID, ZENTITYPK, ZLABEL FROM \(name) WHERE Z_ENT = 16005")
  }
}
