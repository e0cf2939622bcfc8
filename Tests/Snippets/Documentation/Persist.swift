import Foundation
import Persist

func first(_ url: URL, _ registry: ModelRegistry) throws {
  // <block 0>
  // <block 1>
  // <block 2>
  // <block 3>
}
