use super::*;

const THREE: [&str; 3] = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y", "CREATE TABLE b (z)"];

fn tables(connection: &Connection) -> (i64, String) {
    let sql = "SELECT group_concat(name || sql, ';') FROM sqlite_schema";
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    (version, connection.query_row(sql, [], |row| row.get(0)).unwrap())
}

#[test]
fn an_upgraded_file_has_the_schema_of_a_new_one() {
    let mut new = Connection::open_in_memory().unwrap();
    let transaction = new.transaction().unwrap();
    run(&transaction, &THREE, OLDEST - 1).unwrap();
    transaction.commit().unwrap();
    assert_eq!(tables(&new).0, OLDEST + 2);

    for steps in 1..=3 {
        let mut old = Connection::open_in_memory().unwrap();
        let transaction = old.transaction().unwrap();
        run(&transaction, &THREE[..steps], OLDEST - 1).unwrap();
        transaction.commit().unwrap();
        let found = tables(&old).0;
        let transaction = old.transaction().unwrap();
        run(&transaction, &THREE, found).unwrap();
        transaction.commit().unwrap();
        assert_eq!(tables(&old), tables(&new));
    }
}

#[test]
fn a_failed_step_changes_nothing() {
    let mut file = Connection::open_in_memory().unwrap();
    let transaction = file.transaction().unwrap();
    run(&transaction, &THREE[..1], OLDEST - 1).unwrap();
    transaction.commit().unwrap();
    let before = tables(&file);
    let transaction = file.transaction().unwrap();
    run(&transaction, &[THREE[0], THREE[1], "CREATE TABLE a (again)"], OLDEST).unwrap_err();
    drop(transaction);
    assert_eq!(tables(&file), before);
}
