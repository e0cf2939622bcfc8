public import Foundation

/// Everything that a store consists of: two snapshots are equal if nothing was written in between, not even the same
/// values again.
public struct StoreSnapshot: Equatable {
  /// The folder of a store in a file.
  private let folder: FolderSnapshot?
  /// The tables of a store on a server, with the rows' places and the transactions that wrote them.
  private let tables: [[String]]

  public init(_ url: URL) throws {
    guard !url.isFileURL else {
      (folder, tables) = (try FolderSnapshot(url.deletingLastPathComponent()), [])
      return
    }
    folder = nil
    let relations = try ForeignSQL.run(
      """
      SELECT c.oid, c.relname, c.relkind, c.relfilenode, c.relnatts FROM pg_class AS c JOIN pg_namespace AS n \
      ON n.oid = c.relnamespace WHERE n.nspname = current_schema() ORDER BY c.oid
      """, at: url)
    tables = try relations.map { relation in
      guard relation[2] == "r" else { return relation }
      return try relation
        + ForeignSQL.run(
          "SELECT md5(string_agg(t.ctid::text || t.xmin || t::text, ' ' ORDER BY t.ctid)) FROM \"\(relation[1])\" AS t",
          at: url)[0]
    }
  }
}
