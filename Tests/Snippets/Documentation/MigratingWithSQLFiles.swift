import Foundation
import Persist
import PersistSQLMigrations

func migrated(folder: URL, url: URL) throws {
  // <block 0>
}
