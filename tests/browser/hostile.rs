//! Whatever a tool returns is text.

use machine::contract::Applied;

use crate::{
    browser::browse,
    mail::{Server, work},
    site::ANN,
};

const HOSTILE: &str =
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\u{202e}\u{1b}[2J";

#[tokio::test]
async fn script_tags_in_results_stay_text() {
    browse(async |page| {
        let (gate, mail) = page.site.ask("<b>bob</b>\u{202e}@example.com").await;
        page.site.approve(gate, "ann").await;
        work(&page.site.store, Server(|_| Ok(Applied::new(HOSTILE)))).await;
        for view in ["#/", &format!("#/machines/{mail}"), "#/sessions/monday"] {
            page.open_as(ANN, view).await;
            page.unfold().await;
            page.shows("<b>bob</b>\\u{202e}@example.com").await;
            if view != "#/" {
                page.shows("<script>window.hacked = 1</script>").await;
                page.shows("\\u{202e}\\u{1b}[2J").await;
            }
            assert_eq!(page.count("main script, main img, main b").await, 0);
            assert_eq!(page.run("return window.hacked === undefined").await, true);
            // The page itself asks for nothing that its policy refuses.
            assert_eq!(page.run("return window.violations").await, serde_json::json!([]));
        }
    })
    .await;
}

#[tokio::test]
async fn the_policy_blocks_what_should_get_through_all_the_same() {
    browse(async |page| {
        page.open_as(ANN, "#/").await;
        page.run(
            "const script = document.createElement('script'); \
             script.append(document.createTextNode('window.hacked = 1')); \
             document.body.append(script);",
        )
        .await;
        page.until("a violation", "return window.violations.length > 0").await;
        assert_eq!(page.run("return window.hacked === undefined").await, true);
        let inner = "try { document.body.innerHTML = '<p>x</p>'; return 'done' } catch (error) { return error.name }";
        assert_eq!(page.run(inner).await, "TypeError");
        let style = "document.body.setAttribute('style', 'color: red'); return document.body.style.color";
        assert_eq!(page.run(style).await, "");
    })
    .await;
}
