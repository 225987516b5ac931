//! The proxy that plays the faults of providers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use prose_tests::fault_proxy::{Fault, FaultProxy};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n0123456789";

/// A provider that answers everything in the same way.
fn provider() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            assert!(head.contains("content-length: 4\r\n") || head.starts_with("GET "), "{head}");
            let mut body = vec![0; if head.starts_with("GET ") { 0 } else { 4 }];
            reader.read_exact(&mut body).unwrap();
            reader.get_mut().write_all(ANSWER.as_bytes()).unwrap();
        }
    });
    format!("http://{address}")
}

fn ask(proxy: &FaultProxy, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(proxy.address().trim_start_matches("http://"))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn requests_for_a_model_fail_as_planned() {
    let proxy = FaultProxy::start(&provider(), |number| match number {
        1 => Some(Fault::RetryAfter(429, 3)),
        2 => Some(Fault::Reset),
        3 => Some(Fault::Half),
        _ => None,
    });
    const POST: &str = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody";
    let limited = ask(&proxy, POST).unwrap();
    assert!(limited.starts_with("HTTP/1.1 429 ") && limited.contains("\r\nRetry-After: 3\r\n"), "{limited}");
    assert!(limited.contains(r#""type":"rate_limit_error""#), "{limited}");
    assert_eq!(ask(&proxy, "GET / HTTP/1.1\r\nhost: x\r\n\r\n").unwrap(), ANSWER, "asks for no model");
    assert_eq!(ask(&proxy, POST).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(ask(&proxy, POST).unwrap(), ANSWER[..ANSWER.len() / 2]);
    assert_eq!(ask(&proxy, POST).unwrap(), ANSWER);
    let asked = proxy.asked();
    assert_eq!(asked.len(), 4);
    assert_eq!((asked[0].path.as_str(), asked[3].fault), ("/v1/messages", None));
}
