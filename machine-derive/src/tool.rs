//! `#[derive(Tool)]`: the trait from the attribute `#[tool(..)]` on the struct of the arguments.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Data, DataStruct, DeriveInput, Expr, ExprArray, Fields, FieldsNamed, Ident, LitStr, Path,
    Token, Type, bracketed, ext::IdentExt, parse::ParseStream, parse_quote, punctuated::Punctuated,
    token::Bracket,
};

use crate::{errors::Errors, message, tokens::read_list};

const OPTIONS: [&str; 12] = [
    "irreversible",
    "idempotent",
    "answers_later",
    "receipt",
    "refusal",
    "timeout",
    "settling_time",
    "about",
    "question",
    "identity",
    "added",
    "crate",
];

/// The number of options that name an effect; they come first.
const EFFECTS: usize = 3;

#[derive(Default)]
struct Options {
    name: Option<(LitStr, LitStr)>,
    effect: Option<Ident>,
    receipt: Option<Type>,
    refusal: Option<Type>,
    timeout: Option<Expr>,
    settling_time: Option<Expr>,
    about: Option<LitStr>,
    question: Option<LitStr>,
    identity: Option<Vec<Ident>>,
    added: Option<ExprArray>,
    root: Option<Path>,
}

/// Expands the derive. With a mistake it still implements the trait, so that uses of the tool add
/// no errors.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let named = match &input.data {
        Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) => Some(fields),
        Data::Struct(_) => {
            errors.on(&input.ident, message::tool_with_unnamed_fields(&input.ident));
            None
        }
        Data::Enum(_) | Data::Union(_) => {
            errors.on(&input.ident, message::tool_not_a_struct(&input.ident));
            None
        }
    };
    let mut options = options(&input, &mut errors);
    options.check_identity(&input.ident, named, &mut errors);
    let implementation = emit(&input, named, &options);
    let errors = errors.into_tokens();
    quote! { #errors #implementation }
}

fn options(input: &DeriveInput, errors: &mut Errors) -> Options {
    let mut options = Options::default();
    let mut attributes = input.attrs.iter().filter(|it| it.path().is_ident("tool"));
    let Some(attribute) = attributes.next() else {
        errors.on(&input.ident, message::tool_without_options(&input.ident));
        return options;
    };
    let read = |input: ParseStream<'_>| read_list(input, |input| options.read_option(input));
    if let Err(error) = attribute.parse_args_with(read) {
        errors.at(error.span(), message::malformed_tool(&error));
    } else if options.name.is_none() {
        errors.on(attribute, message::tool_without_a_name());
    } else if options.effect.is_none() {
        errors.on(attribute, message::tool_without_an_effect());
    }
    if let Some(second) = attributes.next() {
        errors.on(second, message::malformed_tool(&"`#[tool]` is given twice"));
    }
    options
}

impl Options {
    /// An identity with a mistake is reported and dropped.
    fn check_identity(&mut self, tool: &Ident, known: Option<&FieldsNamed>, errors: &mut Errors) {
        let (Some(identity), Some(known)) = (&self.identity, known) else {
            self.identity = None;
            return;
        };
        let known: Vec<&Ident> = known.named.iter().filter_map(|it| it.ident.as_ref()).collect();
        let before = errors.len();
        if identity.is_empty() {
            errors.on(tool, message::tool_with_an_empty_identity(tool));
        }
        for (index, field) in identity.iter().enumerate() {
            if !known.contains(&field) {
                errors.at(field.span(), message::identity_of_an_unknown_field(field, tool, &known));
            } else if identity[..index].contains(field) {
                errors.at(field.span(), message::identity_with_a_field_twice(field));
            }
        }
        if errors.len() > before {
            self.identity = None;
        }
    }

    fn read_option(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key = input.call(Ident::parse_any)?;
        if input.peek(Token![.]) {
            input.parse::<Token![.]>()?;
            let method = input.call(Ident::parse_any)?;
            let text = |ident: &Ident| LitStr::new(&ident.unraw().to_string(), ident.span());
            return set(&key, &mut self.name, (text(&key), text(&method)));
        }
        let name = key.to_string();
        if OPTIONS[..EFFECTS].contains(&name.as_str()) {
            return set(&key, &mut self.effect, key.clone());
        }
        if !OPTIONS.contains(&name.as_str()) {
            return Err(message::unknown_key(&key, &OPTIONS));
        }
        input.parse::<Token![=]>()?;
        match name.as_str() {
            "receipt" => set(&key, &mut self.receipt, input.parse()?),
            "refusal" => set(&key, &mut self.refusal, input.parse()?),
            "timeout" => set(&key, &mut self.timeout, input.parse()?),
            "settling_time" => set(&key, &mut self.settling_time, input.parse()?),
            "about" => set(&key, &mut self.about, input.parse()?),
            "question" => set(&key, &mut self.question, input.parse()?),
            "identity" => set(&key, &mut self.identity, fields(input)?),
            "added" => set(&key, &mut self.added, input.parse()?),
            _ => set(&key, &mut self.root, input.call(Path::parse_mod_style)?),
        }
    }
}

fn fields(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    if !input.peek(Bracket) {
        return Ok(vec![input.parse()?]);
    }
    let list;
    bracketed!(list in input);
    Ok(Punctuated::<Ident, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

fn set<T>(key: &Ident, option: &mut Option<T>, value: T) -> syn::Result<()> {
    match option.replace(value) {
        None => Ok(()),
        Some(_) => Err(syn::Error::new(key.span(), format!("`{key}` repeats an option"))),
    }
}

fn emit(input: &DeriveInput, fields: Option<&FieldsNamed>, options: &Options) -> TokenStream {
    let root = options.root.clone().unwrap_or_else(|| parse_quote!(::machine));
    let empty = || LitStr::new("", input.ident.span());
    let (service, method) = options.name.clone().unwrap_or_else(|| (empty(), empty()));
    let effect = match options.effect.as_ref().map(ToString::to_string).as_deref() {
        Some("idempotent") => quote!(Idempotent),
        Some("answers_later") => quote!(AnswersLater),
        _ => quote!(Irreversible),
    };
    let text: Type = parse_quote!(::std::string::String);
    let receipt = options.receipt.as_ref().unwrap_or(&text);
    let refusal = options.refusal.as_ref().unwrap_or(&text);
    let duration = quote!(::core::time::Duration);
    let timeout = options.timeout.as_ref().map(|timeout| {
        let is_none = matches!(timeout, Expr::Path(path) if path.path.is_ident("None"));
        let value = if is_none {
            timeout.to_token_stream()
        } else {
            quote!(::core::option::Option::Some(#timeout))
        };
        quote! { const TIMEOUT: ::core::option::Option<#duration> = #value; }
    });
    let settling_time = options.settling_time.as_ref().map(|time| {
        quote! { const SETTLING_TIME: #duration = #time; }
    });
    let added = options.added.as_ref().map(|added| {
        quote! { const ADDED: &'static [&'static str] = &#added; }
    });
    let identity = options.identity.as_ref().map(|fields| {
        // The error for a field that is not JSON is at its name; `self` is the one of the function.
        let values = fields.iter().map(|field| {
            let value = quote_spanned!(field.span()=> #root::__private::identity);
            quote!(#value(&self.#field)?)
        });
        let value = quote!(#root::__private::serde_json::Value);
        quote! {
            fn identity(&self) -> ::core::option::Option<#value> {
                ::core::option::Option::Some(#value::Array(::std::vec![#(#values),*]))
            }
        }
    });
    // Without names, the texts cannot be read, which was reported.
    let names = fields.map(|fields| fields.named.iter().filter_map(|field| field.ident.as_ref()));
    let names: Option<Vec<_>> = names.map(Iterator::collect);
    let texts = [("subject", &options.about), ("question", &options.question)];
    let texts = texts.into_iter().filter_map(|(function, text)| {
        let (text, names) = (text.as_ref()?, names.as_ref()?);
        let function = Ident::new(function, text.span());
        Some(quote! {
            #[allow(unused_variables)]
            fn #function(&self, _: &str) -> ::core::option::Option<::std::string::String> {
                let Self { #(#names,)* .. } = self;
                ::core::option::Option::Some(::std::format!(#text))
            }
        })
    });
    let name = &input.ident;
    let (generics, arguments, bounds) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #generics #root::contract::Tool for #name #arguments #bounds {
            const SERVICE: &'static str = #service;
            const METHOD: &'static str = #method;
            type Effect = #root::contract::#effect;
            type Receipt = #receipt;
            type Refusal = #refusal;
            #timeout
            #settling_time
            #added
            #(#texts)*
            #identity
        }
    }
}
