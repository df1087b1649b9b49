pub(super) fn limit(text: &str) -> Result<usize, String> {
    match text.parse::<u32>() {
        Ok(number @ 1..) => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
        _ => Err(format!("it must be a number from 1 to {}", u32::MAX)),
    }
}
