import Foundation
import Persist

func migrated(folder: URL, url: URL) throws {
  // <block 0>
}
