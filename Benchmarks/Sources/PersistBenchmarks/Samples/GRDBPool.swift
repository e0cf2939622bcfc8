import Foundation
import GRDB

extension DatabasePool {
  /// A pool whose connections have the same settings as those of every contestant.
  static func measured(_ file: URL) throws -> DatabasePool {
    var configuration = Configuration()
    // Otherwise a save fails at once where the others wait, such as while a reader's new connection recovers the log.
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { database in
      for pragma in BenchmarkKey.pragmas + PlainSQLite.safety { try database.execute(sql: pragma) }
      if !database.configuration.readonly { try database.execute(sql: PlainSQLite.newFile) }
    }
    return try DatabasePool(path: file.path, configuration: configuration)
  }
}
